"""Closed-form bounds, each with its map, its hypotheses, and whether it is sharp or empty.

The labels after "Source" (R06, C58, ...) are explained in docs/theory.md.
"""

from reweight.bounds.discovery import discovery_ceiling, discovery_probability, first_success_probability
from reweight.bounds.groups import GapBounds, advantage_bound, gap_bounds
from reweight.bounds.leash import kl_leash
from reweight.bounds.speed import speed_limit
from reweight.bounds.steps import log_odds_step_bound, steps_lower_bound, tilt_steps_upper_bound, unsampled_step_bound
from reweight.bounds.tilt import (
    GainBounds,
    tilt_gain,
    tilt_gain_argmax,
    tilt_gain_bounds,
    tilt_gain_max,
    tilt_kl,
    tilt_log_odds,
    tilt_optimum,
)

__all__ = [
    "GainBounds",
    "GapBounds",
    "advantage_bound",
    "discovery_ceiling",
    "discovery_probability",
    "first_success_probability",
    "gap_bounds",
    "kl_leash",
    "log_odds_step_bound",
    "speed_limit",
    "steps_lower_bound",
    "tilt_gain",
    "tilt_gain_argmax",
    "tilt_gain_bounds",
    "tilt_gain_max",
    "tilt_kl",
    "tilt_log_odds",
    "tilt_optimum",
    "tilt_steps_upper_bound",
    "unsampled_step_bound",
]
