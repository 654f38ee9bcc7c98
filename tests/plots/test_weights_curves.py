"""The pictures of `reweight weights`: their numbers by a second computation, and their layout at every width."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from scipy.optimize import brentq

from reweight.errors import InputError
from reweight.groups.advantages import advantages
from reweight.groups.binary import gap
from reweight.objectives import Advantage, Filter, Objective, RewardRule
from reweight.plots import style
from reweight.plots.answer_curve import answer_curve, answer_curve_data
from reweight.plots.bonus_phase import bonus_phase, bonus_phase_data
from reweight.plots.objective_curve import objective_curve, objective_curve_data
from reweight.plots.signal_curve import signal_curve, signal_curve_data
from reweight.problems import Problem


def crossings(x, y):
    """Where a curve changes its sign, between the points of its grid."""
    change = np.nonzero(np.diff(np.sign(y)))[0]
    return [float(x[i] - y[i] * (x[i + 1] - x[i]) / (y[i + 1] - y[i])) for i in change]


def test_weights_of_a_bonus_by_a_walk_through_all_groups():
    """R13: reward plus or minus 1 plus alpha for the tool, groups of 3."""
    advantage, share, bonus = Advantage(ddof=1, eps=0.01), 0.3, 0.4
    data = bonus_phase_data(advantage, 3, bonus, share=share, points=9)
    row, column = 5, 4
    p, with_tool = data.pass_rates[column], data.pass_rates[column] - data.costs[row]
    masses = np.array([share * with_tool, share * (1 - with_tool), (1 - share) * p, (1 - share) * (1 - p)])
    rewards = np.array([1 + bonus, -1 + bonus, 1, -1])
    groups = np.array(list(product(range(4), repeat=3)))
    chances, values = masses[groups].prod(axis=1), advantages(rewards[groups], advantage)[:, 0]
    first = groups[:, 0]
    used = first < 2
    effect = (chances * values)[used].sum() / share - (chances * values)[~used].sum() / (1 - share)
    assert data.effect[row, column] == pytest.approx(effect, rel=1e-12)
    wrong = (chances * values)[first == 1].sum() / masses[1]
    assert data.wrong_with_tool[row, column] == pytest.approx(wrong, rel=1e-12)


@pytest.mark.parametrize(("size", "threshold"), [(2, 1 / 3), (3, 0.2870), (4, 0.2548), (8, 0.1853)])
def test_below_which_pass_rate_wrong_answers_with_the_tool_are_reinforced(size, threshold):
    """R13, for a tool that half of the answers use and that costs nothing."""
    data = bonus_phase_data(Advantage(), size, points=161)
    free = int(np.argmin(np.abs(data.costs)))
    assert data.costs[free] == pytest.approx(0, abs=1e-12)
    assert crossings(data.pass_rates, data.wrong_with_tool[free]) == pytest.approx([threshold], abs=2e-4)


def test_a_tool_that_costs_twenty_points():
    """R13: discouraged at pass rates in (.457, .743) in groups of 8, never in groups of 4; a tie without a std."""
    data = bonus_phase_data(Advantage(), 8, points=161)
    row = int(np.argmin(np.abs(data.costs - 0.2)))
    possible = data.pass_rates >= data.costs[row]
    assert crossings(data.pass_rates[possible], data.effect[row, possible]) == pytest.approx([0.457, 0.743], abs=1e-3)
    assert (bonus_phase_data(Advantage(), 4, points=161).effect[row, possible] > 0).all()
    plain = bonus_phase_data(Advantage(scale="none"), 8, points=161)
    assert plain.effect[row, possible] == pytest.approx(0, abs=1e-12)
    assert plain.break_even == 0.2


def test_the_break_even_follows_the_rewards():
    data = bonus_phase_data(Advantage(scale="none"), 4, 0.1, correct=1.0, wrong=0.0, points=81)
    cost = brentq(lambda c: np.interp(c, data.costs, data.effect[:, 40]), -0.2, 0.4)
    assert cost == pytest.approx(data.break_even, abs=1e-9)
    with pytest.raises(InputError, match="give the correct one more"):
        bonus_phase_data(Advantage(), correct=0.0, wrong=1.0)
    with pytest.raises(InputError, match="share"):
        bonus_phase_data(Advantage(), share=1.0)


def test_the_sign_of_a_middle_answer_changes_with_the_group():
    """R14: rewards 0, 0.1, 1 at .3, .6, .1: the middle one has +.2, +.25, +.24, +.12, -.05 in groups of 2 to 16."""
    masses = [Fraction(3, 10), Fraction(3, 5), Fraction(1, 10)]
    data = answer_curve_data(Objective(Advantage(), 8), Problem([0, 0.1, 1]), masses, (2, 3, 4, 8, 16))
    assert data.group_sizes == (2, 3, 4, 8, 16)
    assert data.weights[1].round(2).tolist() == [0.2, 0.25, 0.24, 0.12, -0.05]


def test_answers_that_cannot_be_told_apart_share_a_curve():
    quarter = [Fraction(1, 4)] * 4
    data = answer_curve_data(Objective(Advantage(), 4), Problem([1, 0, 0, 1]), quarter, (2,))
    assert data.answers == ((0, 3), (1, 2))
    passes = Objective(Advantage("none", "none"), 4, reward=RewardRule(transform="pass_at_k", k=3))
    assert answer_curve_data(passes, Problem([1, 0]), [Fraction(1, 2)] * 2, (2, 3, 8)).group_sizes == (3, 4, 8)


def test_signal_of_kept_and_generated_rollouts():
    """Groups of 2 with one kept group in two: twice the ratio a group, since dead groups add nothing but zeros."""
    data = signal_curve_data(Advantage(), {"even": ([1, 0, 0], [0.5, 0.25, 0.25])}, (2,))
    pi = np.array([0.5, 0.25, 0.25])
    gradients = np.array([(np.eye(3)[0] - np.eye(3)[wrong]) / 2 for wrong in (1, 2)])
    mean, square = gradients.mean(axis=0), (gradients**2).sum(axis=1).mean()
    assert pi @ pi == 0.375
    assert data.kept[0, 0] == pytest.approx(mean @ mean / (square - mean @ mean) / 2, rel=1e-12)
    half = mean / 2
    assert data.generated[0, 0] == pytest.approx(half @ half / (square / 2 - half @ half) / 2, rel=1e-12)


def test_the_curve_of_an_objective_marks_its_own_gap():
    filtered = Objective(Advantage(), 6, filter=Filter("solved"))
    data = objective_curve_data(filtered, 5, marked=[0.3, 1e-9])
    assert data.marked.tolist() == [0.3]
    assert data.gaps[2] == pytest.approx(float(gap(0.5, 6, Advantage())), rel=1e-12)
    assert data.marked_gaps[0] == pytest.approx(float(gap(0.3, 6, Advantage())) / (1 - 0.7**6), rel=1e-12)


def bonus(axes):
    bonus_phase(axes, bonus_phase_data(Advantage(), marked=(0.1, 0.05), points=41))


def objective(axes):
    objective_curve(axes, objective_curve_data(Objective(Advantage(), 8), 41, marked=[0.01, 0.5]))


def crossing(axes):
    rule = RewardRule(transform="pass_at_k", k=4)
    objective_curve(axes, objective_curve_data(Objective(Advantage("none", "none"), 8, reward=rule), 41))


def signal(axes):
    prompts = {f"$p = {rate}$": ([1, 0, 0], [rate, (1 - rate) / 2, (1 - rate) / 2]) for rate in (0.01, 0.1, 0.5)}
    signal_curve(axes, signal_curve_data(Advantage(), prompts))


def short_signal(axes):
    signal_curve(axes, signal_curve_data(Advantage(), {"this prompt": ([1, 0.5, 0], [0.2, 0.3, 0.5])}))


def answers(axes):
    problem = Problem([1, 0.5, 0, -1 / 3], lengths=[10, 20, 30, 40])
    answer_curve(axes, answer_curve_data(Objective(Advantage(), 8), problem, [Fraction(1, 4)] * 4))


def drawn_words(axes):
    """Every text that is drawn: legend, names of the axes, and the labels of ticks inside the frame."""
    texts = [*axes.get_legend().get_texts(), axes.xaxis.label, axes.yaxis.label]
    for axis, minor in product((axes.xaxis, axes.yaxis), (False, True)):
        low, high = sorted(axis.get_view_interval())
        places = zip(axis.get_ticklocs(minor=minor), axis.get_ticklabels(minor=minor), strict=True)
        texts += [label for place, label in places if low <= place <= high]
    return [(text.get_text(), text.get_window_extent()) for text in texts if text.get_text()]


@pytest.mark.parametrize("venue", sorted(style.VENUES))
@pytest.mark.parametrize("draw", [bonus, objective, crossing, signal, short_signal, answers])
def test_words_stay_apart_on_the_page_and_off_the_curves(draw, venue):
    with style.use(venue):
        figure, (axes,) = style.stack(1, venue)
        draw(axes)
        figure.draw_without_rendering()
    assert axes.get_legend().get_window_extent().y0 >= axes.get_window_extent().y1 - 1
    words, page = drawn_words(axes), figure.bbox
    assert len(words) >= 8
    for text, box in words:
        assert page.x0 <= box.x0 < box.x1 <= page.x1, text
        assert page.y0 <= box.y0 < box.y1 <= page.y1, text
    for (first, box), (second, other) in combinations(words, 2):
        assert not box.padded(-1).overlaps(other), (first, second)
