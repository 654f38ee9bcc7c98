from __future__ import annotations

from itertools import pairwise

import pytest

from proofs_check.three_maps import reverse_kl_optimum, side_by_side


def test_what_holds_and_fails_is_as_the_theory_says() -> None:
    words = [tuple(found.split(":")[0] for found in row.found) for row in side_by_side()]
    assert words == [
        ("holds", "holds", "holds"),
        ("holds", "holds", "holds"),
        ("holds", "FAILS", "FAILS"),
        ("holds", "holds", "holds"),
        ("FAILS", "holds", "FAILS"),
    ]


@pytest.mark.parametrize("group_size", [2, 4, 8])
def test_the_reverse_kl_has_mass_outside_the_base_until_beta_reaches_the_largest_gap(group_size: int) -> None:
    edge = (group_size - 1) ** 0.5
    assert reverse_kl_optimum(1.001 * edge, group_size) == 0
    optima = [reverse_kl_optimum(share * edge, group_size) for share in (0.2, 0.5, 0.9, 0.999)]
    assert all(a > b for a, b in pairwise(optima))
    if group_size == 2:
        assert optima == pytest.approx([0.8, 0.5, 0.1, 0.001], abs=1e-9)
