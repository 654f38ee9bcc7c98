"""Rows of one training step: another step is another policy, so its samples estimate another pass rate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reweight.errors import InputError
from reweight.rollouts.files import File
from reweight.rollouts.table import LeftOut
from reweight.terminal import listed, quoted

__all__ = ["STEP_FIELD", "Steps"]

STEP_FIELD = "step"
OTHER_STEP = "rows of other steps"


class Steps:
    """The training steps that were seen, and which rows are used.

    Parameters
    ----------
    file : File
        For sentences.
    chosen : int, optional
        The step that was asked for.
    pooled : bool
        Take all steps as one policy.
    """

    def __init__(self, file: File, chosen: int | None, *, pooled: bool = False) -> None:
        if pooled and chosen is not None:
            raise InputError(f"{file.name}: --step takes one step and --all-steps takes all; leave one out")
        self._file = file
        self._chosen = chosen
        self._pooled = pooled
        self._rows: dict[int, int] = {}
        self._without = 0

    def wanted(self, fields: Mapping[str, Any], where: str) -> bool:
        """Whether a row is of the step that was asked for, or no step was."""
        if STEP_FIELD not in fields:
            if self._rows:
                raise self._missing(where)
            self._without += 1
            return True
        step = self._checked(fields[STEP_FIELD], where)
        self._rows[step] = self._rows.get(step, 0) + 1
        return self._chosen is None or step == self._chosen

    def found(self) -> tuple[tuple[str, ...], list[LeftOut]]:
        """A sentence on the step, and what is left out.

        Raises
        ------
        InputError
            If rows come from several steps and none was chosen, or none is of the chosen one.
        """
        if not self._rows:
            if self._chosen is not None or self._pooled:
                option = "--all-steps" if self._pooled else "--step"
                raise InputError(f"{self._file.name}: the rows have no field step; leave {option} out")
            return (), []
        if self._pooled:
            return (f"the rows of {len(self._rows)} training steps are taken as draws of one policy (--all-steps)",), []
        if self._chosen is None and len(self._rows) > 1:
            raise InputError(
                f"{self._file.name}: the rows come from {len(self._rows)} training steps, which are different "
                f"policies; choose one with --step, for example --step {quoted(next(iter(self._rows)))}, or pool them "
                "with --all-steps where the policy never changed"
            )
        if self._chosen is not None and self._chosen not in self._rows:
            known = listed(map(quoted, self._rows))
            raise InputError(f"{self._file.name}: no row is of step {quoted(self._chosen)}; choose one of {known}")
        step = next(iter(self._rows)) if self._chosen is None else self._chosen
        others = sum(self._rows.values()) - self._rows[step]
        return (f"all rows used are of training step {step}",), [LeftOut(OTHER_STEP, others)] if others else []

    def _checked(self, step: Any, where: str) -> int:
        if step is None or self._without:
            raise self._missing(where)
        whole = isinstance(step, int) or (isinstance(step, float) and step.is_integer())
        if isinstance(step, bool) or not whole:
            raise InputError(f"{where}: the training step {quoted(step)} is not a whole number; write its number")
        return int(step)

    @staticmethod
    def _missing(where: str) -> InputError:
        return InputError(f"{where}: the row has no training step, as others have; write it in every row or in none")
