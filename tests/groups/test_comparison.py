"""Differences of objectives, and what they do."""

import numpy as np
import pytest

from reweight import Advantage, InputError, Objective, preset
from reweight.groups.binary import binary_weights
from reweight.groups.comparison import compare


def test_trl_and_verl():
    found = compare(preset("trl", group_size=3), preset("verl", group_size=3))
    assert set(found.differences) == {"advantage.eps", "advantage.singleton", "clip.dual", "clip.log_ratio_limit"}
    np.testing.assert_allclose(found.directions[0], (0.28537561, -0.11452475, -0.17085086), atol=1e-8)
    assert found.gap_in_direction == pytest.approx(1.73e-4, rel=0.01)
    right, wrong = binary_weights(0.1, 3, preset("trl").advantage)
    assert found.weights[0][1].tolist() == [right, wrong]


def test_fields_without_effect_are_not_differences():
    left = Objective(Advantage(scale="none", ddof=1, eps=1e-4), 4)
    assert compare(left, Objective(Advantage(scale="none"), 4)).differences == {}
    assert compare(left, left).gap_in_direction == 0.0
    assert "advantage.ddof" not in compare(preset("trl"), preset("dr_grpo")).differences


def test_what_has_no_weights_by_reward_alone():
    found = compare(preset("pkpo"), preset("areal", kl=None))
    assert found.weights == (None, None)
    assert found.to_dict()["weights"] == [None, None]
    assert "relative difference" in str(found)


def test_bandits_of_ones_own():
    found = compare(preset("trl"), preset("nemo_rl", kl=None), rewards=[1, 0.3, 0], logits=[0, 0, 0], pass_rates=[0.2])
    assert found.gap_in_direction > 0.1
    with pytest.raises(InputError):
        compare(preset("trl"), preset("verl"), rewards=[1, 0], logits=[0.0, 0.0, 0.0])
