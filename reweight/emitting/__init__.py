"""Files of runs whose cause is known, for people who build monitors, and for tests."""
