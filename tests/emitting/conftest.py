"""Runs whose files are looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from reweight.dynamics.spec import RunSpec
from reweight.objectives import preset
from reweight.policies.flat import FlatPolicy
from reweight.problems.problem import Problem, ProblemSet
from reweight.problems.verifier import Verifier
from reweight.updates import SampledPolicyGradient


@pytest.fixture
def spec() -> Callable[..., RunSpec]:
    """A run of twelve prompts, some dead, with other fields where they are given."""

    def make(*, prompts: int = 12, verifier: Verifier | None = None, **fields: Any) -> RunSpec:
        rates = np.linspace(0.0, 1.0, prompts)
        problem = Problem([1, 0, 0], answers=["six", "seven", "zehn <\u00fc>"], lengths=[3, 5, 2], verifier=verifier)
        rows = np.column_stack([rates, 0.7 * (1 - rates), 0.3 * (1 - rates)])
        values: dict[str, Any] = {
            "problem": ProblemSet([problem] * prompts),
            "policy": FlatPolicy.from_probabilities(list(rows)),
            "objective": preset("trl", group_size=4),
            "update": SampledPolicyGradient(5.0, groups=2),
            "steps": 3,
            "seed": 4,
        }
        return RunSpec(**(values | fields))

    return make
