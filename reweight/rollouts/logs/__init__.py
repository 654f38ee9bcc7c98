"""Logs that trainers write: means by step, which are no samples but say how a run went."""

from reweight.rollouts.logs.log import TrainerLog
from reweight.rollouts.logs.registry import log_formats, read_log

__all__ = ["TrainerLog", "log_formats", "read_log"]
