"""Loops that numba compiles when they are first called; imported inside the functions that need them."""
