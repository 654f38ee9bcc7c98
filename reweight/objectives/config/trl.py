"""TRL's GRPOConfig (1.16.0)."""

from __future__ import annotations

from typing import Any

from reweight.errors import InputError
from reweight.objectives.advantage import Advantage
from reweight.objectives.batch import Batch
from reweight.objectives.clip import Clip
from reweight.objectives.config.fields import Fields
from reweight.objectives.kl import KLPenalty
from reweight.objectives.objective import Objective
from reweight.objectives.ratio import Ratio
from reweight.objectives.reward import RewardRule

__all__ = ["KEYS", "read"]

NAME = "trl"
KEYS = ("num_generations", "loss_type", "scale_rewards", "beta", "epsilon", "epsilon_high", "num_iterations")
AGGREGATION = {
    "dapo": "token_mean",
    "bnpo": "token_mean",
    "cispo": "token_mean",
    "grpo": "sequence_mean",
    "dr_grpo": "constant",
    "luspo": "sequence_sum",
}
SCALES = {"group": "std", "true": "std", "batch": "batch_std", "none": "none", "false": "none"}
OUTSIDE = {
    "entropy_coef": (0.0, "an entropy bonus"),
    "use_adaptive_entropy": (False, "an entropy bonus"),
    "top_entropy_quantile": (1.0, "a mask on tokens of low entropy"),
    "off_policy_mask_threshold": (None, "a mask on tokens far off the policy"),
    "mask_truncated_completions": (False, "leaving truncated answers out"),
    "sync_ref_model": (False, "a reference that moves"),
}


def read(fields: Fields) -> dict[str, Any]:
    """Return what the configuration says, as keywords of TrainerConfig."""
    dead: list[tuple[str, str]] = []
    loss = fields.choice("loss_type", "dapo", tuple(AGGREGATION))
    apart = fields.choice(
        "multi_objective_aggregation", "sum_then_normalize", ("sum_then_normalize", "normalize_then_sum")
    )
    scale = SCALES[fields.choice("scale_rewards", "group", (*SCALES, "True", "False")).lower()]
    if apart == "normalize_then_sum" and fields.given("scale_rewards"):
        dead.append(("scale_rewards", "rewards that are normalised apart are always divided by their group std"))
    advantage = Advantage(scale=scale, ddof=1, eps=1e-4)  # type: ignore[arg-type]
    if apart == "normalize_then_sum":
        advantage = Advantage(ddof=1, eps=1e-4, second="batch_standardise")
    order = "normalise_then_sum" if apart == "normalize_then_sum" else "sum_then_normalise"
    coupled = advantage.couples_prompts
    objective = Objective(
        advantage,
        fields.integer("num_generations", 8),
        reward=RewardRule(channel_weights=fields.numbers("reward_weights"), order=order),  # type: ignore[arg-type]
        ratio=_ratio(fields, loss),
        clip=_clip(fields, loss, dead),
        kl=_kl(fields, dead),
        aggregation=AGGREGATION[loss],  # type: ignore[arg-type]
        constant_length=float(fields.integer("max_completion_length", 512)) if loss == "dr_grpo" else None,
        batch=Batch() if coupled else None,
    )
    assumed = []
    if objective.aggregation == "token_mean" and not coupled:
        over = "micro-batch" if loss == "bnpo" else "generation batch"
        assumed.append(f"the token mean is taken over each group, not over the {over}")
    return {
        "objective": objective,
        "inner_epochs": fields.integer("num_iterations", 1),
        "dead": tuple(dead),
        "assumed": tuple(assumed),
        "left_out": _left_out(fields),
    }


def _ratio(fields: Fields, loss: str) -> Ratio:
    level = fields.choice("importance_sampling_level", "token", ("token", "sequence"))
    if loss == "cispo":
        if level == "sequence":
            raise InputError("importance_sampling_level sequence under loss_type cispo has no counterpart here")
        return Ratio("detached_weight")
    return Ratio("sequence_mean" if level == "sequence" else "token")


def _clip(fields: Fields, loss: str, dead: list[tuple[str, str]]) -> Clip:
    low = fields.number("epsilon", 0.2)
    high = fields.number("epsilon_high", low)
    if loss == "cispo":
        if fields.given("delta"):
            dead.append(("delta", "loss_type cispo has no two-sided clip"))
        if high <= 1:
            dead.append(
                ("epsilon_high", f"is the cap itself under cispo, not 1 + epsilon: every weight is at most {high:g}")
            )
        return Clip(1.0, high, high_is="absolute")
    return Clip(low, high, ratio_cap=fields.number("delta", 0.0) or None)


def _kl(fields: Fields, dead: list[tuple[str, str]]) -> KLPenalty | None:
    beta = fields.number("beta", 0.0)
    if beta == 0:
        if fields.given("use_bias_correction_kl"):
            dead.append(("use_bias_correction_kl", "beta is 0, so there is no KL penalty"))
        return None
    weighted = fields.flag("use_bias_correction_kl", True)
    if weighted and fields.values.get("importance_sampling_level") == "sequence":
        raise InputError(
            "use_bias_correction_kl with sequence ratios weighs the KL by them, which has no counterpart here"
        )
    return KLPenalty("k3", beta, gradient="ratio_weighted" if weighted else "autograd")


def _left_out(fields: Fields) -> tuple[str, ...]:
    found = []
    for key, (default, what) in OUTSIDE.items():
        if fields.given(key) and str(fields.values[key]).lower() != str(default).lower():
            found.append(f"{key}: {what} is not part of an objective here")
    return tuple(found)
