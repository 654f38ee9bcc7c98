"""Exact GRPO on finite answer spaces."""
