"""Rollouts from files: one canonical table of counts, one reader a format."""

from __future__ import annotations

from pathlib import Path

from reweight.rollouts.registry import formats, read
from reweight.rollouts.table import Answers, Counts, Group, Groups, LeftOut, Rollouts

__all__ = ["Answers", "Counts", "Group", "Groups", "LeftOut", "Rollouts", "example", "formats", "read"]


def example() -> Path:
    """Path of the counts file that ships with the package: 200 GSM8K prompts, 8 samples each."""
    return Path(__file__).parent / "examples" / "gsm8k_base_k8.jsonl"
