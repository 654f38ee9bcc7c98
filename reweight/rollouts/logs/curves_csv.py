"""Curves as CSV: one row a step with reward_mean and shares of all-correct and all-wrong groups."""

from __future__ import annotations

from reweight.rollouts.csv_rows import csv_rows
from reweight.rollouts.files import File
from reweight.rollouts.logs.log import Columns, LogOptions, TrainerLog, log_of

NAME = "curves-csv"
HOLDS = "step, reward_mean, frac_all_correct, frac_all_wrong"

REWARD = "reward_mean"


def recognises(file: File) -> bool:
    """Whether the columns name a step and a mean reward."""
    return file.kind == "csv" and {"step", REWARD} <= set(file.fields)


def read(file: File, options: LogOptions) -> TrainerLog:
    """Each row is a training step."""
    rows = ((file.at(row.line), row.fields) for row in csv_rows(file, ()))
    columns = Columns(
        options.reward or REWARD,
        dead="frac_reward_zero_std",
        all_correct="frac_all_correct",
        all_wrong="frac_all_wrong",
        kl="kl",
        entropy="entropy",
        length="mean_length",
    )
    return log_of(file.source, NAME, rows, columns, options)
