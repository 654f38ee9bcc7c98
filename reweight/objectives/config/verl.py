"""verl's PPO trainer configuration (0.9.1), nested or as dotted overrides."""

from __future__ import annotations

from typing import Any

from reweight.errors import InputError
from reweight.objectives.advantage import Advantage
from reweight.objectives.batch import Batch
from reweight.objectives.clip import Clip
from reweight.objectives.config.fields import Fields
from reweight.objectives.filter import Filter
from reweight.objectives.kl import KLPenalty
from reweight.objectives.objective import Objective
from reweight.objectives.ratio import Ratio

__all__ = ["KEYS", "read"]

NAME = "verl"
ACTOR, ALGORITHM = "actor_rollout_ref.actor", "algorithm"
KEYS = (ALGORITHM, "actor_rollout_ref")
WHITENED: dict[str, Any] = {"ddof": 1, "eps": 1e-8, "eps_rule": "inside_root", "second": "token_whiten"}
ESTIMATORS: dict[str, dict[str, Any]] = {
    "grpo": {"ddof": 1, "eps": 1e-6, "singleton": "reward"},
    "grpo_vectorized": {"ddof": 1, "eps": 1e-6, "singleton": "reward"},
    "grpo_passk": {"baseline": "second_best", "ddof": 1, "eps": 1e-6, "selection": "best", "singleton": "error"},
    "rloo": {"baseline": "leave_one_out", "scale": "none", "singleton": "reward"},
    "rloo_vectorized": {"baseline": "leave_one_out", "scale": "none"},
    "opo": {"baseline": "length_weighted", "scale": "none", "singleton": "reward"},
    "reinforce_plus_plus": {"baseline": "none", "scale": "none", **WHITENED},
    "reinforce_plus_plus_baseline": {"baseline": "mean", "scale": "none", **WHITENED},
}
AGGREGATION = {
    "token-mean": "token_mean",
    "seq-mean-token-sum": "sequence_sum",
    "seq-mean-token-mean": "sequence_mean",
    "seq-mean-token-sum-norm": "constant",
}
ESTIMATOR_OF = {"kl": "k1", "k1": "k1", "mse": "k2", "k2": "k2", "low_var_kl": "k3", "k3": "k3"}


def read(fields: Fields) -> dict[str, Any]:
    """Return what the configuration says, as keywords of TrainerConfig."""
    dead: list[tuple[str, str]] = []
    name = fields.choice(f"{ALGORITHM}.adv_estimator", "grpo", tuple(ESTIMATORS))
    chosen: dict[str, Any] = dict(ESTIMATORS[name])
    divided = fields.flag(f"{ALGORITHM}.norm_adv_by_std_in_grpo", True)
    if name.startswith("grpo") and not divided:
        chosen["scale"] = "none"
    if not name.startswith("grpo") and fields.given(f"{ALGORITHM}.norm_adv_by_std_in_grpo"):
        dead.append((f"{ALGORITHM}.norm_adv_by_std_in_grpo", f"adv_estimator {name} does not look at it"))
    advantage = Advantage(**chosen)
    aggregation = AGGREGATION[fields.choice(f"{ACTOR}.loss_agg_mode", "token-mean", tuple(AGGREGATION))]
    length = fields.number(f"{ACTOR}.loss_scale_factor", fields.number("data.max_response_length", 512))
    mode = fields.choice(f"{ACTOR}.policy_loss.loss_mode", "vanilla", ("vanilla", "gspo", "cispo"))
    objective = Objective(
        advantage,
        fields.integer("actor_rollout_ref.rollout.n", 1),
        ratio=Ratio({"vanilla": "token", "gspo": "sequence_mean", "cispo": "detached_weight"}[mode]),  # type: ignore[arg-type]
        clip=_clip(fields, mode, dead),
        kl=_kl(fields, dead),
        aggregation=aggregation,  # type: ignore[arg-type]
        constant_length=length if aggregation == "constant" else None,
        filter=_filter(fields),
        batch=Batch() if advantage.couples_prompts else None,
    )
    assumed = []
    if aggregation == "token_mean" and objective.batch is None:
        assumed.append("the token mean is taken over each group, not over the mini-batch")
    if aggregation == "constant" and not fields.given(f"{ACTOR}.loss_scale_factor"):
        assumed.append(f"answers are padded to {length:g} tokens")
    return {
        "objective": objective,
        "inner_epochs": fields.integer(f"{ACTOR}.ppo_epochs", 1),
        "dead": tuple(dead),
        "assumed": tuple(assumed),
        "left_out": _left_out(fields),
    }


def _clip(fields: Fields, mode: str, dead: list[tuple[str, str]]) -> Clip:
    low = fields.number(f"{ACTOR}.clip_ratio_low", 0.2)
    high = fields.number(f"{ACTOR}.clip_ratio_high", 0.2)
    dual = fields.number(f"{ACTOR}.clip_ratio_c", 3.0)
    if fields.given(f"{ACTOR}.clip_ratio"):
        both = fields.given(f"{ACTOR}.clip_ratio_low") and fields.given(f"{ACTOR}.clip_ratio_high")
        why = "clip_ratio_low and clip_ratio_high are what is used"
        dead.append((f"{ACTOR}.clip_ratio", why if both else f"{why}, and stay at {low:g} and {high:g}"))
    if mode == "vanilla":
        return Clip(low, high, dual=dual, log_ratio_limit=20.0)
    if fields.given(f"{ACTOR}.clip_ratio_c"):
        dead.append((f"{ACTOR}.clip_ratio_c", f"loss_mode {mode} has no dual clip"))
    return Clip(low, high, log_ratio_limit=10.0 if mode == "gspo" else 20.0)


def _kl(fields: Fields, dead: list[tuple[str, str]]) -> KLPenalty | None:
    in_loss = fields.flag(f"{ACTOR}.use_kl_loss", False)
    in_reward = fields.flag(f"{ALGORITHM}.use_kl_in_reward", False)
    if in_loss and in_reward:
        raise InputError("use_kl_loss and use_kl_in_reward are both on: an objective here has one KL penalty")
    loss_keys = (f"{ACTOR}.kl_loss_coef", f"{ACTOR}.kl_loss_type")
    reward_keys = (f"{ALGORITHM}.kl_ctrl.kl_coef", f"{ALGORITHM}.kl_penalty")
    if not in_loss:
        dead += [(key, "use_kl_loss is off") for key in loss_keys if fields.given(key)]
    if not in_reward:
        dead += [(key, "use_kl_in_reward is off") for key in reward_keys if fields.given(key)]
    if in_reward:
        estimator = ESTIMATOR_OF[fields.choice(reward_keys[1], "kl", tuple(ESTIMATOR_OF))]
        return KLPenalty(
            estimator,  # type: ignore[arg-type]
            fields.number(reward_keys[0], 0.001),
            "reward",
            limit=10.0 if estimator == "k3" else None,
        )
    if not in_loss:
        return None
    words = tuple(ESTIMATOR_OF) + tuple(f"{word}+" for word in ESTIMATOR_OF)
    word = fields.choice(loss_keys[1], "low_var_kl", words)
    estimator = ESTIMATOR_OF[word.rstrip("+")]
    return KLPenalty(
        estimator,  # type: ignore[arg-type]
        fields.number(loss_keys[0], 0.001),
        gradient="straight_through" if word.endswith("+") else "autograd",
        limit=10.0 if estimator == "k3" else None,
    )


def _filter(fields: Fields) -> Filter | None:
    if not fields.flag(f"{ALGORITHM}.filter_groups.enable", False):
        return None
    rounds = fields.integer(f"{ALGORITHM}.filter_groups.max_num_gen_batches", 0, at_least=None)
    return Filter("mixed", max_rounds=rounds if rounds > 0 else None)


def _left_out(fields: Fields) -> tuple[str, ...]:
    found = []
    if fields.number(f"{ACTOR}.entropy_coeff", 0.0) != 0:
        found.append(f"{ACTOR}.entropy_coeff: an entropy bonus is not part of an objective here")
    return tuple(found)
