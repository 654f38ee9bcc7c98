"""Rewards of single samples, added up as they come and judged when all are known."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError
from reweight.rollouts.correctness import Rule, correctness_rule
from reweight.rollouts.files import File
from reweight.rollouts.reader import Options
from reweight.rollouts.table import Answers, Groups, LeftOut, Rollouts

__all__ = ["Tally"]

MISSING_REWARD = "samples without a reward (null or NaN)"
MOST_LEVELS = 1000
"""Different rewards without a threshold; beyond there is no doubt that one is needed."""

Key = str | tuple[str, str]
"""A prompt, or a prompt and the name of a group."""


class Tally:
    """Numbers of samples by group and reward, so that memory goes with the groups and not with the samples.

    Parameters
    ----------
    file : File
        For sentences.
    options : Options
        The threshold, if one was given.
    """

    def __init__(self, file: File, options: Options) -> None:
        self._file = file
        self._options = options
        self._place: dict[Key, int] = {}
        self._levels: dict[float | bool, array[int]] = {}
        self._answers: dict[tuple[int, float | bool, str], int] = {}
        self._seen: dict[type, float | bool] = {}
        self._missing = 0

    def add(
        self,
        prompt: str,
        reward: float | bool | None,
        *,
        group: str | None = None,
        times: int = 1,
        answer: str | None = None,
    ) -> None:
        """Count samples of one group with one checked reward; None is a missing one, never a wrong one."""
        place = self._place.setdefault(prompt if group is None else (prompt, group), len(self._place))
        if reward is None:
            self.miss(times)
            return
        kind = bool if isinstance(reward, bool) else float
        if kind not in self._seen:
            self._seen[kind] = reward
        threshold = self._options.threshold
        level: float | bool = reward if kind is bool or threshold is None else float(reward >= threshold)
        column = self._levels.get(level)
        if column is None:
            column = self._new_level(level)
        if len(column) <= place:
            column.extend([0] * (2 * place + 1 - len(column)))
        column[place] += times
        if answer is not None:
            key = place, level, answer
            self._answers[key] = self._answers.get(key, 0) + times

    def miss(self, times: int) -> None:
        """Count samples whose reward is missing."""
        self._missing += times

    def open(self, prompt: str, group: str | None = None) -> None:
        """Take note of a group whose rewards may all be missing."""
        self._place.setdefault(prompt if group is None else (prompt, group), len(self._place))

    def rollouts(
        self, format_name: str, understood: Sequence[str], left_out: Sequence[LeftOut], *, rule: Rule | None = None
    ) -> Rollouts:
        """Apply the correctness rule (that of the rewards themselves unless given) and make the table."""
        rule = rule or self._rule()
        right = {level: rule.is_correct(level) for level in self._levels}
        n, c = (np.zeros(len(self._place), np.int64) for _ in range(2))
        for level, column in self._levels.items():
            counts = np.frombuffer(column, np.int64)[: n.size]
            n[: counts.size] += counts
            if right[level]:
                c[: counts.size] += counts
        groups, kept, dropped = self._groups(n, c)
        notes = [*understood, rule.sentence]
        if len(groups) > len(groups.prompts):
            found = f"(groups: {len(groups)}, prompts: {len(groups.prompts)})"
            notes.append(f"groups of the same prompt are pooled {found}")
        if dropped:
            notes.append(f"prompts without any reward, which are not counted as prompts: {dropped}")
        missing = [LeftOut(MISSING_REWARD, self._missing)] if self._missing else []
        without = int(n.sum()) - sum(self._answers.values())
        if self._answers and without:
            notes.append(f"answers are not used, as {without} samples have none")
        answers = self._answer_table(groups, kept, right) if self._answers and not without else None
        return Rollouts(self._file.source, format_name, groups, tuple(notes), (*left_out, *missing), answers)

    def _rule(self) -> Rule:
        threshold = self._options.threshold
        if threshold is None or float not in self._seen:
            # The levels alone decide; where both kinds were seen, one of each shows it.
            return correctness_rule([*self._levels, *self._seen.values()], threshold, self._file.name)
        rule = correctness_rule(self._seen.values(), threshold, self._file.name)
        return Rule(bool, rule.sentence)

    def _new_level(self, level: float | bool) -> array[int]:
        if len(self._levels) >= MOST_LEVELS:
            raise InputError(
                f"{self._file.name}: there are more than {MOST_LEVELS} different rewards, so it is not clear which "
                "mean correct; say so with --threshold"
            )
        return self._levels.setdefault(level, array("q"))

    def _groups(self, n: NDArray[np.int64], c: NDArray[np.int64]) -> tuple[Groups, NDArray[np.int64], int]:
        """Groups with a reward, the new place of each old one (-1: none), and the number of prompts that are lost."""
        names = [key if isinstance(key, str) else key[0] for key in self._place]
        rewarded = n > 0
        index: dict[str, int] = {}
        prompt = [index.setdefault(names[i], len(index)) for i in np.flatnonzero(rewarded).tolist()]
        place = np.where(rewarded, np.cumsum(rewarded) - 1, -1)
        groups = Groups(tuple(index), np.array(prompt, np.int64), n[rewarded], c[rewarded])
        return groups, place, len(set(names)) - len(index)

    def _answer_table(self, groups: Groups, place: NDArray[np.int64], right: dict[float | bool, bool]) -> Answers:
        pooled: dict[tuple[int, str, bool], int] = {}
        for (group, level, text), times in self._answers.items():
            key = int(groups.prompt[place[group]]), text, right[level]
            pooled[key] = pooled.get(key, 0) + times
        return Answers(
            prompt=np.array([prompt for prompt, _, _ in pooled], np.int64),
            text=tuple(text for _, text, _ in pooled),
            correct=np.array([correct for _, _, correct in pooled], bool),
            count=np.array(list(pooled.values()), np.int64),
        )
