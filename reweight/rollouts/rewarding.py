"""Rows with a prompt and its reward, or a list of its rewards, counted as they come."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from reweight.errors import InputError
from reweight.rollouts.correctness import checked_reward
from reweight.rollouts.files import File, Row
from reweight.rollouts.reader import GROUP_FIELD, ID_FIELDS, Names, Options, first_of, unused_fields
from reweight.rollouts.steps import STEP_FIELD, Steps
from reweight.rollouts.table import LeftOut, Rollouts
from reweight.rollouts.tally import Tally
from reweight.terminal import line, quoted

__all__ = ["REWARD_FIELDS", "holds_rewards", "read_rewards"]

REWARD_FIELDS = ("acc", "passed", "correct", "rewards", "reward", "score")
EMPTY_GROUP = "rows without rewards (null or an empty list)"


def holds_rewards(fields: Iterable[str]) -> bool:
    """Whether a prompt id and a reward are among the fields."""
    present = set(fields)
    return all(first_of(names, present) for names in (ID_FIELDS, REWARD_FIELDS))


def read_rewards(file: File, rows: Iterable[Row], format_name: str, options: Options) -> Rollouts:
    """A list of rewards a row is one group; single rewards are gathered by prompt (and group, where there is one)."""
    reading = _Reading(file, options)
    for row in rows:
        reading.take(row)
    return reading.rollouts(format_name)


@dataclass
class _Reading:
    """What has been seen of the rows so far."""

    file: File
    options: Options
    ids: Names = field(default_factory=lambda: Names("prompt id"))
    group_names: Names = field(default_factory=lambda: Names("name of a group"))
    seen: dict[str, None] = field(default_factory=dict)
    id_field: str = ""
    reward_field: str = ""
    shape: tuple[bool, int] | None = None
    lines: dict[tuple[str, str | None], int] = field(default_factory=dict)
    empty: int = 0

    def __post_init__(self) -> None:
        self.tally = Tally(self.file, self.options)
        self.steps = Steps(self.file, self.options.step, pooled=self.options.all_steps)

    def take(self, row: Row) -> None:
        """Count the rewards of one row."""
        where = self.file.at(row.line)
        if not self.id_field:
            self.id_field = first_of(ID_FIELDS, row.fields) or ID_FIELDS[1]
            given = self.options.reward
            self.reward_field = given if given is not None else first_of(REWARD_FIELDS, row.fields) or "rewards"
        if not row.fields.keys() <= self.seen.keys():
            self.seen.update(dict.fromkeys(row.fields))
        if not self.steps.wanted(row.fields, where):
            return
        value = row.value(self.reward_field, where)
        prompt = self.ids.of(row.value(self.id_field, where), where)
        group = row.fields.get(GROUP_FIELD)
        name = None if group is None else self.group_names.of(group, where)
        rewards = self._rewards(value, (prompt, name), row.line)
        if not rewards:
            self.tally.open(prompt, name)
        for item in rewards:
            self.tally.add(prompt, checked_reward(item, where), group=name)

    def rollouts(self, format_name: str) -> Rollouts:
        """The table of all rows."""
        if not self.id_field:
            raise InputError(f"{self.file.name}: there is no row under the header; give at least one sample")
        understood, left_out = self.steps.found()
        lists = self.shape is not None and self.shape[0]
        if lists and self.empty:
            left_out.append(LeftOut(EMPTY_GROUP, self.empty))
        elif self.empty:
            self.tally.miss(self.empty)
        how = "a list with the rewards of one group" if lists else "the reward of one sample"
        rest = unused_fields(self.seen, (self.id_field, self.reward_field, GROUP_FIELD, STEP_FIELD))
        return self.tally.rollouts(format_name, (f"{line(self.reward_field)} is {how}", *understood, *rest), left_out)

    def _rewards(self, value: Any, key: tuple[str, str | None], number: int) -> list[Any]:
        """The rewards of a row; a null says neither whether rows are lists, and one way goes for the whole file."""
        is_list = isinstance(value, list)
        if value is not None:
            if self.shape is None:
                self.shape = is_list, number
            if is_list is not self.shape[0]:
                first = self.shape[1]
                found = f"a list, and one value on line {first}" if is_list else f"not a list as on line {first}"
                raise InputError(
                    f"{self.file.at(number)}: {line(self.reward_field)} is {found}; write all rows in one way"
                )
        if value is None or value == []:
            self.empty += 1
        if is_list and not self.options.merge:
            before = self.lines.setdefault(key, number)
            if before != number:
                raise InputError(
                    f"{self.file.name}: prompt {quoted(key[0])} is on line {before} and again on line {number}; "
                    "give each group a field group, or add them with --merge"
                )
        if value is None:
            return []
        return value if is_list else [value]
