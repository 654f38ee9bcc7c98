"""The seam for answers of several tokens: the gradient of the loss as it is defined, by finite differences.

The oracle walks through all groups, writes each loss down token by token, and differentiates the mean numerically; it
shares no code with the package but the advantages of a group.
"""

from itertools import product

import numpy as np
import pytest

from reweight.dynamics.run import run
from reweight.errors import InputError
from reweight.groups.advantages import advantages
from reweight.groups.coefficients import expected_coefficients
from reweight.objectives import Advantage, Clip, KLPenalty, Objective, Ratio
from reweight.policies.policy import LogProbs
from reweight.problems import Problem
from reweight.updates import PolicyGradient, SampledPolicyGradient
from small_tree import SmallTree

OLD = SmallTree(np.array([0.3, -0.5, 0.4, 0.2, -0.6]))
NOW = SmallTree(np.array([0.5, -0.2, 0.1, -0.3, 0.4]))
REFERENCE = SmallTree(np.array([0.1, 0.2, -0.1, 0.3, 0.0]))
REWARDS = [1.0, 0.0, 0.5, 1.0]
LENGTHS = np.array([1, 1, 2, 2])


def token_term(objective, advantage, log_ratio):
    """One token's term of the objective, given log pi/pi_old."""
    clip = objective.clip
    if clip is not None and clip.log_ratio_limit is not None:
        log_ratio = min(max(log_ratio, -clip.log_ratio_limit), clip.log_ratio_limit)
    ratio = np.exp(log_ratio)
    term = ratio * advantage
    if clip is not None:
        if clip.ratio_cap is not None:
            term = min(ratio, clip.ratio_cap) * advantage
        highest = clip.high if clip.high_is == "absolute" else 1 + clip.high
        term = min(term, min(max(ratio, 1 - clip.low), highest) * advantage)
        if clip.dual is not None and advantage < 0:
            term = max(term, clip.dual * advantage)
    return term


def kl_term(kl, log_ratio, log_reference_ratio):
    x = -log_reference_ratio
    value = {"k1": -x, "k2": x**2 / 2, "k3": np.exp(x) - x - 1}[kl.estimator]
    if kl.limit is not None:
        value = min(max(value, -kl.limit), kl.limit)
    return np.exp(log_ratio) * value if kl.gradient == "ratio_weighted" else value


def weight(objective, group, answer):
    if objective.aggregation in ("token_mean", "prompt_token_mean"):
        return 1 / LENGTHS[list(group)].sum()
    share = {
        "sequence_mean": 1 / LENGTHS[answer],
        "sequence_sum": 1.0,
        "constant": 1 / (objective.constant_length or 1),
    }
    return share[objective.aggregation] / len(group)


def value(policy, objective):
    """The expected objective at `policy`, groups drawn from OLD."""
    now, old, reference = (p.log_probs(None).tokens for p in (policy, OLD, REFERENCE))
    drawn = OLD.log_probs(None).probabilities
    total = 0.0
    for group in product(range(4), repeat=objective.group_size):
        values = advantages([REWARDS[y] for y in group], objective.advantage, lengths=LENGTHS[list(group)])
        inner = 0.0
        for answer, advantage in zip(group, values, strict=True):
            steps = range(LENGTHS[answer])
            whole = sum(now[answer, t] - old[answer, t] for t in steps)
            for t in steps:
                log_ratio = now[answer, t] - old[answer, t]
                level = objective.ratio.level
                used = {"sequence_product": whole, "sequence_mean": whole / LENGTHS[answer]}.get(level, log_ratio)
                if level == "detached_weight":  # a weight frozen at NOW times A log pi
                    frozen = np.exp(NOW.log_probs(None).tokens[answer, t] - old[answer, t])
                    term = (
                        min(max(frozen, 1 - objective.clip.low), 1 + objective.clip.high) * advantage * now[answer, t]
                    )
                else:
                    term = token_term(objective, advantage, used)
                if objective.kl is not None:
                    term -= objective.kl.beta * kl_term(objective.kl, log_ratio, now[answer, t] - reference[answer, t])
                inner += weight(objective, group, answer) * term
        total += np.prod(drawn[list(group)]) * inner
    return total


def numerical_gradient(objective):
    step = 1e-6

    def at(shift):
        return value(NOW.replace(NOW.parameters + shift), objective)

    return np.array([(at(step * unit) - at(-step * unit)) / (2 * step) for unit in np.eye(len(NOW.parameters))])


AGGREGATIONS = ["token_mean", "sequence_mean", "sequence_sum", "constant"]
KLS = [None, *(KLPenalty(k, 0.3) for k in ("k1", "k2", "k3")), KLPenalty("k3", 0.3, gradient="ratio_weighted")]


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("level", ["token", "sequence_product"])
@pytest.mark.parametrize("clip", [None, Clip(0.05, 0.1), Clip(0.2, 0.2, dual=1.1)])
@pytest.mark.parametrize("kl", KLS)
def test_expected_gradient_is_that_of_the_loss(aggregation, level, clip, kl):
    objective = Objective(
        Advantage(ddof=1),
        3,
        ratio=Ratio(level),
        clip=clip,
        kl=kl,
        aggregation=aggregation,
        constant_length=5.0 if aggregation == "constant" else None,
    )
    problem = Problem(REWARDS, correct=[True, False, False, True])
    if level == "sequence_product" and kl is not None and kl.gradient == "ratio_weighted":
        with pytest.raises(InputError, match="token ratios"):
            expected_coefficients(problem, NOW, objective, old=OLD, reference=REFERENCE)
        return
    coefficients = expected_coefficients(problem, NOW, objective, old=OLD, reference=REFERENCE)
    assert coefficients.shape == (4, 2)
    np.testing.assert_allclose(NOW.pull_back(problem, coefficients), numerical_gradient(objective), atol=2e-8)


@pytest.mark.parametrize("aggregation", ["token_mean", "prompt_token_mean", "sequence_mean"])
@pytest.mark.parametrize(
    ("level", "clip"),
    [
        ("sequence_mean", None),
        ("sequence_mean", Clip(0.05, 0.1)),
        ("detached_weight", Clip(1.0, 0.05)),
        ("detached_weight", Clip(0.1, 0.05)),
        ("token", Clip(0.05, 0.05, ratio_cap=1.2)),
        ("token", Clip(1.0, 0.9, high_is="absolute")),
        ("token", Clip(0.5, 0.5, log_ratio_limit=0.15)),
    ],
)
def test_other_ratios_and_clips_are_those_of_the_loss(aggregation, level, clip):
    objective = Objective(Advantage(ddof=1), 3, ratio=Ratio(level), clip=clip, aggregation=aggregation)
    problem = Problem(REWARDS, correct=[True, False, False, True])
    coefficients = expected_coefficients(problem, NOW, objective, old=OLD)
    np.testing.assert_allclose(NOW.pull_back(problem, coefficients), numerical_gradient(objective), atol=2e-8)


@pytest.mark.parametrize("gradient", ["autograd", "ratio_weighted"])
@pytest.mark.parametrize("estimator", ["k1", "k2", "k3"])
def test_a_clamped_kl_has_the_gradient_of_what_is_computed(estimator, gradient):
    objective = Objective(Advantage(), 3, kl=KLPenalty(estimator, 0.3, gradient=gradient, limit=0.05))
    problem = Problem(REWARDS, correct=[True, False, False, True])
    coefficients = expected_coefficients(problem, NOW, objective, old=OLD, reference=REFERENCE)
    np.testing.assert_allclose(NOW.pull_back(problem, coefficients), numerical_gradient(objective), atol=2e-8)


def test_a_length_weighted_baseline_uses_the_token_counts():
    objective = Objective(Advantage("length_weighted", "none"), 3, aggregation="sequence_mean")
    problem = Problem(REWARDS, correct=[True, False, False, True])
    coefficients = expected_coefficients(problem, NOW, objective, old=OLD)
    np.testing.assert_allclose(NOW.pull_back(problem, coefficients), numerical_gradient(objective), atol=2e-8)


def test_a_whole_run_works_on_a_policy_of_tokens():
    problem = Problem([1.0, 0.0, 0.0, 1.0])
    objective = Objective(Advantage(), 4, clip=Clip(0.2, 0.2))
    for update in (PolicyGradient(0.5, inner_epochs=2), SampledPolicyGradient(0.5)):
        path = run(problem, OLD, objective, update, 5, rng=np.random.default_rng(0))
        assert np.isfinite(path.pass_rate).all()
    assert path.pass_rate[-1] != path.pass_rate[0]


def test_lengths_that_contradict_the_tokens_are_refused():
    with pytest.raises(InputError, match="numbers of tokens"):
        expected_coefficients(Problem(REWARDS, lengths=[9, 9, 9, 9]), NOW, Objective(Advantage(), 3))
    agreeing = expected_coefficients(Problem(REWARDS, lengths=LENGTHS), NOW, Objective(Advantage(), 3))
    np.testing.assert_array_equal(agreeing, expected_coefficients(Problem(REWARDS), NOW, Objective(Advantage(), 3)))


def test_answers_that_do_not_hold_all_mass_are_refused():
    class Partial(SmallTree):
        def log_probs(self, problem, answers=None):
            whole = super().log_probs(problem)
            return LogProbs(whole.tokens[:3], whole.mask[:3])

    with pytest.raises(InputError, match="list every answer"):
        expected_coefficients(Problem(REWARDS[:3]), Partial(OLD.parameters), Objective(Advantage(), 3))


def test_draws_of_another_group_size_are_refused():
    from reweight.groups.coefficients import sampled_coefficients

    with pytest.raises(InputError, match=r"give \(groups, 3\)"):
        sampled_coefficients(Problem(REWARDS), NOW, Objective(Advantage(), 3), {0: np.array([[0, 1]])})
