"""Figures: functions that take an Axes and return artists, one figure a file, in one style."""
