"""Columns of a log: the number of groups behind a row, windows, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from reweight.errors import InputError
from reweight.forecasting.curve import Curve, groups_behind


@pytest.mark.parametrize("size", [2, 8, 16])
def test_numbers_of_groups_are_found_up_to_a_common_factor(size: int) -> None:
    rng = np.random.default_rng(size)
    for _ in range(300):
        groups = int(rng.integers(1, 500))
        c = rng.binomial(size, rng.beta(1, 1, groups))
        shares = c.mean() / size, (c == size).mean(), (c == 0).mean()
        found = groups_behind(size, *shares)
        assert found is not None
        assert groups % found == 0
        assert all(
            abs(share * found * per - round(share * found * per)) < 1e-6
            for share, per in zip(shares, (size, 1, 1), strict=True)
        )


def test_windows_pool_groups_and_leave_a_rest_out() -> None:
    curve = Curve.of(
        4,
        [1, 2, 3, 4, 5],
        [0.5, 1, 0, 1, 1],
        all_correct=[0, 1, 0, 1, 1],
        all_wrong=[0, 0, 1, 0, 0],
        groups=[10, 30, 5, 5, 7],
    )
    first, second = curve.windows(0, 2)
    assert (first.groups, first.pass_rate, first.all_correct, first.dead) == (40, 0.875, 0.75, 0.75)
    assert (second.steps, second.pass_rate, second.all_wrong) == ((3.0, 4.0), 0.5, 0.5)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"pass_rate": [0.5, 1.5]}, "between 0 and 1"),
        ({"pass_rate": [0.5, np.nan]}, "between 0 and 1"),
        ({"pass_rate": [0.5]}, "differ in length"),
        ({"steps": [2, 1]}, "do not increase"),
        ({"all_correct": [0.1, 0.1]}, "only one of the shares"),
        ({"all_correct": [0.1, 0.1], "all_wrong": [0, 0], "dead": [0.1, 0.1]}, "sum of its two kinds"),
        ({"groups": [3, 0]}, "no group"),
        ({"groups": None, "pass_rate": [2**-0.5, 0.5]}, "say how many groups"),
        ({"groups": None, "pass_rate": [0.5477, 0.5481]}, "rounded"),
    ],
)
def test_columns_that_are_no_log_are_refused_in_a_sentence(changes: dict, says: str) -> None:
    columns = {"steps": [1, 2], "pass_rate": [0.5, 0.25], "groups": [4, 4], **changes}
    with pytest.raises(InputError, match=says) as error:
        Curve.of(8, columns.pop("steps"), columns.pop("pass_rate"), **columns)
    assert "\n" not in str(error.value)
