"""Which theorems an objective keeps; those that it breaks are broken by a number as well."""

import numpy as np
import pytest

from reweight import Advantage, KLPenalty, Objective, Problem, group_weights, preset, presets
from reweight.objectives.hypotheses import THEOREMS, hypotheses


def standing(objective, **options):
    return {each.label: each for each in hypotheses(objective, **options)}


def test_a_plain_objective_keeps_nearly_all():
    found = standing(Objective(Advantage(), 8, aggregation="sequence_sum"))
    assert {label for label, each in found.items() if not each.applies} == {"C17", "C54"}
    assert len(found) == len(THEOREMS)


@pytest.mark.parametrize(
    ("objective", "label", "word"),
    [
        (preset("nemo_rl"), "R03, C11", "z-score"),
        (preset("nemo_rl"), "C01", "another number"),
        (preset("areal"), "R05, C27", "depends on the others"),
        (preset("reinforce_plus_plus"), "C28", "sum to zero"),
        (preset("grpo"), "R06, C58", "not sampled"),
        (preset("grpo"), "C54", "KL\\(reference"),
        (preset("grpo"), "C28", "its own length"),
        (preset("pkpo"), "R04, C14", "z-score"),
        (Objective(Advantage(), 4, kl=KLPenalty("k1", 0.1)), "C54", "nothing"),
    ],
)
def test_the_option_that_breaks_is_named(objective, label, word):
    import re

    each = standing(objective)[label]
    assert not each.applies
    assert any(re.search(word, why) for why in each.broken_by)
    assert each.to_dict()["applies"] is False


def test_inner_epochs_break_what_holds_for_one():
    one, two = standing(preset("trl")), standing(preset("trl"), inner_epochs=2)
    assert one["R06, C58"].applies
    assert not two["R06, C58"].applies
    assert "2 inner epochs" in str(two["R06, C58"])


def test_centred_weights_are_claimed_exactly_where_they_are_centred():
    problem = Problem([1.0, 0.3, 0.0])
    pi = np.array([0.5, 0.3, 0.2])
    for item in presets():
        objective = item.objective
        if objective.batch is not None or objective.reward.transform:
            continue
        weights = group_weights(
            problem.rewards, pi, objective.group_size if objective.group_size < 9 else 4, objective.advantage
        )
        centred = abs(pi @ weights) < 1e-12
        assert standing(objective)["C01"].applies == centred, item.name
