"""What a number must satisfy before a formula sees it; every failure is one sentence in an InputError."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral, Real
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reweight.errors import InputError

__all__ = ["Floats", "choice", "distribution", "integer", "mask", "number", "plain", "real", "shapes", "unit", "whole"]

Floats = NDArray[np.float64]

SUM_TOLERANCE = 1e-9
"""Probabilities whose sum is further from one than this are refused; nearer ones are renormalised."""


def real(
    value: ArrayLike, name: str, *, at_least: float = -np.inf, at_most: float = np.inf, above: float = -np.inf
) -> Floats:
    """Numbers as float64, none of them NaN, all of them in the stated range."""
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be a number or an array of numbers, got {value!r}.") from error
    wrong = np.isnan(numbers) | (numbers < at_least) | (numbers > at_most)
    if np.isfinite(above):
        wrong |= numbers <= above
    if wrong.any():
        low = f"above {above:g}" if np.isfinite(above) else f"at least {at_least:g}" if np.isfinite(at_least) else ""
        high = f"at most {at_most:g}" if np.isfinite(at_most) else ""
        wanted = " and ".join(filter(None, (low, high))) or "a number"
        raise InputError(f"{name} must be {wanted}, got {_first(numbers, wrong)}.")
    return numbers


def unit(value: ArrayLike, name: str) -> Floats:
    """Probabilities: float64 between 0 and 1, with no condition on their sum."""
    return real(value, name, at_least=0.0, at_most=1.0)


def whole(value: ArrayLike, name: str, *, at_least: int) -> Floats:
    """Whole numbers as float64, so that counts of 1e12 and more need no care."""
    numbers = real(value, name, at_least=at_least)
    broken = ~np.isfinite(numbers) | (numbers != np.floor(numbers))
    if broken.any():
        raise InputError(f"{name} must be a whole number, got {_first(numbers, broken)}.")
    return numbers


def integer(value: object, name: str, *, at_least: int) -> int:
    """One integer: not an array, not a truth value, not a float that happens to be whole."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise InputError(f"{name} must be an integer, got {value!r}.")
    if value < at_least:
        raise InputError(f"{name} must be at least {at_least}, got {value}.")
    return int(value)


def number(
    value: object, name: str, *, at_least: float = -np.inf, at_most: float = np.inf, above: float = -np.inf
) -> float:
    """One real number in the stated range: not an array, not a truth value, not text."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise InputError(f"{name} must be one number, got {value!r}.")
    return float(real(cast(ArrayLike, value), name, at_least=at_least, at_most=at_most, above=above))


def choice(value: object, name: str, allowed: Collection[object]) -> None:
    """Refuse a value that is not among the allowed ones."""
    if value not in allowed:
        raise InputError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}.")


def distribution(value: ArrayLike, name: str) -> Floats:
    """Probabilities (..., N) that sum to one along the last axis, renormalised."""
    numbers = unit(value, name)
    if numbers.ndim == 0 or numbers.shape[-1] == 0:
        raise InputError(f"{name} must have at least one answer on its last axis, got shape {numbers.shape}.")
    total = numbers.sum(axis=-1, keepdims=True)
    off = np.abs(total - 1.0) > SUM_TOLERANCE
    if off.any():
        raise InputError(f"{name} must sum to 1 along the last axis, got {_first(total, off)}; divide by the sum.")
    return cast(Floats, numbers / total)


def mask(value: ArrayLike, name: str) -> NDArray[np.bool_]:
    """Truth values; zeros and ones are taken as such, anything else is refused."""
    flags = np.asarray(value)
    if flags.dtype != np.bool_ and not np.isin(flags, (0, 1)).all():
        raise InputError(f"{name} must hold True and False (or 1 and 0) only, got {value!r}.")
    return flags.astype(np.bool_)


def shapes(**arrays: NDArray[Any]) -> None:
    """Refuse arrays whose shapes do not broadcast, naming each."""
    try:
        np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError as error:
        listed = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise InputError(f"The shapes of {listed} do not fit together; give them a common shape.") from error


def plain(values: NDArray[Any]) -> Floats:
    """The array itself, or its one number when it has no axes."""
    return cast(Floats, values[()])


def _first(numbers: NDArray[Any], wrong: NDArray[np.bool_]) -> str:
    """The first offender, and where it stands when there is more than one place."""
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{float(numbers[place])!r}" + (f" at position {list(place)}" if numbers.size > 1 else "")
