"""Policies: how probabilities depend on parameters."""
