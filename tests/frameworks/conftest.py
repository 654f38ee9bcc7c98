"""What records a framework runs in an environment of its own and is no test."""

collect_ignore = ["recording.py"]
collect_ignore_glob = ["record_*.py"]
