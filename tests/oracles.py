"""Plain enumeration in exact arithmetic: the oracles of the engine's tests."""

from fractions import Fraction
from itertools import product

import numpy as np

from reweight.groups.advantages import advantages
from reweight.groups.radicals import RadicalSum


def enumerated_weights(rewards, probabilities, group_size, advantage):
    """E[A_1 | y_1 = y] and E[|A_1| | y_1 = y] by walking through all N^G ordered groups."""
    weights = [RadicalSum() for _ in rewards]
    sizes = [RadicalSum() for _ in rewards]
    seen = {}  # the advantage of member 1 depends on the others' rewards in no particular order
    for group in product(range(len(rewards)), repeat=group_size):
        key = (rewards[group[0]], tuple(sorted(rewards[y] for y in group[1:])))
        if key not in seen:
            seen[key] = advantages(np.array([key[0], *key[1]], dtype=object), advantage)[0]
        mass = Fraction(1)
        for y in group[1:]:
            mass *= probabilities[y]
        weights[group[0]] += seen[key] * mass
        sizes[group[0]] += abs(seen[key]) * mass
    return weights, sizes
