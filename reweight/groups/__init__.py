"""Exact expectations over groups of samples."""
