"""The flow map against an ODE solver, and against exact small steps of whole tables of answers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import expit, logit

from reweight.errors import InputError
from reweight.forecasting.flow import flow, tilt_flow, two_answer_flow
from reweight.groups.binary import gap
from reweight.groups.weights import group_weights
from reweight.objectives.advantage import Advantage

RATES = np.array([1e-9, 1e-3, 0.05, 0.3, 0.5, 0.8, 0.999])


@pytest.mark.parametrize("size", [2, 8, 64])
@pytest.mark.parametrize("advantage", [Advantage(), Advantage(ddof=1, eps=1e-4), Advantage(scale="none")])
@pytest.mark.parametrize("time", [0.01, 0.7, 5.0])
def test_both_flows_agree_with_an_ode_solver(size: int, advantage: Advantage, time: float) -> None:
    start = logit(RATES)

    def tilt(_: float, theta: np.ndarray) -> np.ndarray:
        return gap(logit=theta, group_size=size, advantage=advantage)

    def policy_gradient(t: float, theta: np.ndarray) -> np.ndarray:
        return 2 * expit(theta) * expit(-theta) * tilt(t, theta)

    for speed, moved in ((tilt, tilt_flow), (policy_gradient, two_answer_flow)):
        solved = solve_ivp(speed, (0, time), start, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
        assert moved(size, advantage)(start, time) == pytest.approx(solved, abs=1e-9)


def stepped(policy: np.ndarray, rewards: np.ndarray, size: int, time: float, steps: int, *, tilt: bool) -> float:
    """Pass rate after exact expected updates of a whole table of answers."""
    logits = np.log(policy)
    for _ in range(steps):
        now = np.exp(logits - logits.max())
        now /= now.sum()
        weights = group_weights(rewards, now, size, Advantage(ddof=1))
        logits = logits + time / steps * (weights if tilt else now * weights)
    now = np.exp(logits - logits.max())
    return float(now[rewards == 1].sum() / now.sum())


def test_small_tilts_of_a_table_of_answers_tend_to_the_flow_at_first_order() -> None:
    policy, rewards = np.array([0.05, 0.15, 0.5, 0.3]), np.array([1.0, 1.0, 0.0, 0.0])
    limit = tilt_flow(4, Advantage(ddof=1)).pass_rate(np.array([0.2]), 1.5)[0]
    errors = [abs(stepped(policy, rewards, 4, 1.5, steps, tilt=True) - limit) for steps in (20, 40, 80)]
    assert errors[2] < 1e-4
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.05)
    assert errors[1] / errors[2] == pytest.approx(2, rel=0.05)


def test_small_policy_gradients_of_two_answers_tend_to_the_two_answer_flow() -> None:
    rewards = np.array([1.0, 0.0])
    limit = two_answer_flow(4, Advantage(ddof=1)).pass_rate(np.array([0.2]), 3.0)[0]
    errors = [abs(stepped(np.array([0.2, 0.8]), rewards, 4, 3.0, n, tilt=False) - limit) for n in (50, 100)]
    assert errors[1] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.05)


def test_time_adds_up_and_runs_backwards_and_certainty_stays() -> None:
    moved = tilt_flow(8, Advantage())
    start = np.concatenate([[-np.inf], logit(RATES), [np.inf]])
    assert moved(moved(start, 0.4), 0.9)[1:-1] == pytest.approx(moved(start, 1.3)[1:-1], abs=1e-8)
    assert moved(moved(start, 0.9), -0.9)[1:-1] == pytest.approx(start[1:-1], abs=1e-8)
    assert moved.pass_rate(np.array([0.0, 1.0]), 7.0).tolist() == [0.0, 1.0]


def test_far_from_even_odds_a_tilt_moves_at_the_largest_gap() -> None:
    moved = tilt_flow(8, Advantage())
    assert moved.fastest == pytest.approx(np.sqrt(7), rel=1e-12)
    assert moved(np.array([-300.0]), 2.0)[0] == pytest.approx(-300 + 2 * np.sqrt(7), rel=1e-9)


def test_a_speed_that_is_not_positive_is_refused() -> None:
    with pytest.raises(InputError, match="does not rise"):
        flow(np.sin)
