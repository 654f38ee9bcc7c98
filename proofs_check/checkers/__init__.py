"""One module a back end: what makes a road short to write, and its outcome honest."""
