"""Whole runs: trajectories and what is recorded on them."""
