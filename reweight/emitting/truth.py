"""What is true of an emitted run: the file that stands beside it, for whoever looks for it in the others."""

from __future__ import annotations

import platform
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweight.emitting.batches import Run, acceptance
from reweight.emitting.worlds import World
from reweight.groups.binary import gap
from reweight.measures import pass_at_k
from reweight.objectives.objective import Objective
from reweight.updates import PolicyGradient, SampledPolicyGradient, Tilt

__all__ = ["truth_of"]

Floats = NDArray[np.float64]
PACKAGES = ("grpo-reweight", "numpy")
PASS_AT = (1, 2, 4, 8, 16, 32, 64)


def truth_of(run: Run, sources: dict[str, int], format_name: str, world: World | None = None) -> dict[str, Any]:
    """Return the truth as JSON values; truth.schema.json describes them.

    Parameters
    ----------
    run : Run
        What happened.
    sources : dict of str to int
        Number of updates of the policy behind each file of rollouts.
    format_name : str
        What the files look like.
    world : World, optional
        What the prompts were drawn from.

    Notes
    -----
    An accepted rate is the probability that the verifier accepts a rollout: the pass rate, unless the verifier errs.
    Dead share p^G + q^G, signal p q Delta_G(p) (R01) and pass@k are those of accepted rates, averaged over the prompts
    of the run; `world` has the same for the distribution that the prompts were drawn from.
    """
    spec = run.spec
    problems = run.problems
    right = [problem.correct.astype(np.float64) for problem in problems]
    accept = [acceptance(problem) for problem in problems]
    passing = [_rates(run, updates, right) for updates in range(len(run.policies))]
    accepted = [_rates(run, updates, accept) for updates in range(len(run.policies))]
    return {
        "format": format_name,
        "files": [{"path": path, "updates": updates} for path, updates in sources.items()],
        "cause": {
            "update": repr(spec.update),
            "draws_move_the_policy": isinstance(run.update, SampledPolicyGradient),
            "steps": spec.steps,
            "seed": spec.seed,
            "samples": run.samples,
            "objective": spec.objective.to_dict(),
            "world": None if world is None else world.about,
        },
        "versions": {name: version(name) for name in ("grpo-reweight", "numpy")}
        | {"python": platform.python_version()},
        "prompts": run.names,
        "policies": [
            {
                "updates": updates,
                "pass_rates": rates.tolist(),
                "accepted_rates": seen.tolist(),
                "pass_rate": float(rates.mean()),
                **_functionals(seen, spec.objective),
            }
            for updates, (rates, seen) in enumerate(zip(passing, accepted, strict=True))
        ],
        "world": None if world is None else _of_world(world, spec.objective),
        "expected_pass_rate": _expected(run, passing),
        "find": _find(run, passing, accepted),
    }


def _rates(run: Run, updates: int, chances: list[Floats]) -> Floats:
    policy = run.policies[updates]
    rates = [
        min(1.0, float(policy.log_probs(problem).probabilities @ own))
        for problem, own in zip(run.problems, chances, strict=True)
    ]
    return np.array(rates)


def _functionals(rates: Floats, objective: Objective) -> dict[str, Any]:
    """Means over prompts of equal weight."""
    return {
        "dead_share": float(_dead(rates, objective).mean()),
        "signal": float(_signal(rates, objective).mean()),
        "pass_at_k": {str(k): float(np.mean(pass_at_k(rates, k))) for k in PASS_AT},
    }


def _of_world(world: World, objective: Objective) -> dict[str, Any]:
    found = {str(k): world.mean(partial(pass_at_k, k=k)) for k in PASS_AT}
    return {
        "pass_rate": world.mean(lambda p: p),
        "dead_share": world.mean(lambda p: _dead(p, objective)),
        "signal": world.mean(lambda p: _signal(p, objective)),
        "pass_at_k": found,
    }


def _dead(rates: Floats, objective: Objective) -> Floats:
    return np.asarray(rates**objective.group_size + (1 - rates) ** objective.group_size)


def _signal(rates: Floats, objective: Objective) -> Floats:
    return np.asarray(rates * (1 - rates) * gap(rates, objective.group_size, objective.advantage))


def _expected(run: Run, passing: list[Floats]) -> list[float]:
    """Mean pass rate after each update of the exact update; drawn groups scatter around it to first order in eta."""
    spec = run.spec
    if not isinstance(run.update, SampledPolicyGradient):
        return [float(rates.mean()) for rates in passing]
    update, policies = PolicyGradient(run.update.step), [spec.policy]
    for _ in range(spec.steps):
        policies.append(update.apply(spec.problem, policies[-1], spec.objective, reference=spec.policy))
    exact = Run(spec, run.samples, tuple(policies), ())
    right = [problem.correct.astype(np.float64) for problem in run.problems]
    return [float(_rates(exact, updates, right).mean()) for updates in range(len(policies))]


def _find(run: Run, passing: list[Floats], accepted: list[Floats]) -> dict[str, Any]:
    """What a monitor should find."""
    update = run.update
    before, after = (accepted[i] for i in (0, -1))
    first, last = (run.policies[i].parameters for i in (0, -1))
    return {
        "map": update.name,
        "tilt_time": update.step * run.spec.steps if isinstance(update, Tilt) else None,
        "accepted_rate_change": float(after.mean() - before.mean()),
        "prompts_up": int((after > before).sum()),
        "prompts_down": int((after < before).sum()),
        "never_solvable": [name for name, rate in zip(run.names, passing[0], strict=True) if rate == 0],
        "new_answers": int((np.isfinite(last) & ~np.isfinite(first)).sum()),
        "verifier_errs": any(problem.verifier is not None for problem in run.problems),
    }
