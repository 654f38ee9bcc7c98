"""A policy of two tokens written for the tests: one softmax at the root, one below its last child."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax

from reweight.policies.policy import LogProbs

ANSWERS = ["a", "b", "c-x", "c-y"]
"""Root choices a, b, c; below c the choices x, y. So two answers of one token and two of two."""


@dataclass(frozen=True, eq=False)
class SmallTree:
    """Parameters: three logits at the root, two below c."""

    parameters: np.ndarray

    def replace(self, parameters):
        return SmallTree(np.asarray(parameters, dtype=float))

    def log_probs(self, problem, answers=None):
        root, below = log_softmax(self.parameters[:3]), log_softmax(self.parameters[3:])
        tokens = np.array([[root[0], np.nan], [root[1], np.nan], [root[2], below[0]], [root[2], below[1]]])
        mask = np.array([[True, False], [True, False], [True, True], [True, True]])
        chosen = slice(None) if answers is None else answers
        return LogProbs(tokens[chosen], mask[chosen])

    def pull_back(self, problem, coefficients, answers=None):
        table = np.zeros((4, 2))
        by_token = coefficients if np.ndim(coefficients) == 2 else np.repeat(coefficients[:, None], 2, axis=1)
        np.add.at(table, np.arange(4) if answers is None else answers, by_token)
        root = np.array([table[0, 0], table[1, 0], table[2, 0] + table[3, 0]])
        below = table[2:, 1]
        pi_root, pi_below = np.exp(log_softmax(self.parameters[:3])), np.exp(log_softmax(self.parameters[3:]))
        return np.concatenate([root - pi_root * root.sum(), below - pi_below * below.sum()])
