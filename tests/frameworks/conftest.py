"""The recorders run in environments of their own and are no tests."""

collect_ignore_glob = ["record_*.py"]
