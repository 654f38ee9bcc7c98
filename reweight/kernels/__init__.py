"""Fast forms of sums over groups: one file a kernel, its compiled loops under the same name in `compiled`."""
