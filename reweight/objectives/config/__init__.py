"""A trainer's configuration as an Objective: one file a framework; what has no effect or no counterpart is named."""

from reweight.objectives.config.reading import TrainerConfig, read_config

__all__ = ["TrainerConfig", "read_config"]
