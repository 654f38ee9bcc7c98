"""Rewards of single samples, gathered into groups and counted by the correctness rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from reweight.errors import InputError
from reweight.rollouts.correctness import checked_reward, correctness_rule
from reweight.rollouts.files import File, Row
from reweight.rollouts.reader import GROUP_FIELD, ID_FIELDS, Names, Options, first_of, unused_fields
from reweight.rollouts.table import Group, LeftOut, Rollouts
from reweight.terminal import line, listed, quoted

__all__ = ["RewardedGroup", "count_groups", "holds_rewards", "only_step", "read_rewards"]

REWARD_FIELDS = ("acc", "passed", "correct", "rewards", "reward", "score")
STEP_FIELD = "step"
MISSING_REWARD = "samples without a reward (null or NaN)"
EMPTY_GROUP = "rows without rewards (null or an empty list)"
OTHER_STEP = "rows of other steps"


@dataclass(frozen=True)
class RewardedGroup:
    """The checked rewards of one group; None is a missing one."""

    prompt: str
    rewards: Sequence[float | bool | None]


def holds_rewards(fields: Iterable[str]) -> bool:
    """Whether a prompt id and a reward are among the fields."""
    present = set(fields)
    return all(first_of(names, present) for names in (ID_FIELDS, REWARD_FIELDS))


def read_rewards(file: File, rows: Iterable[Row], format_name: str, options: Options) -> Rollouts:
    """A list of rewards a row is one group; single rewards are gathered by prompt (and group, where there is one)."""
    table = list(rows)
    if not table:
        raise InputError(f"{file.name}: there is no row under the header; give at least one sample")
    id_field = first_of(ID_FIELDS, table[0].fields) or ID_FIELDS[1]
    field = options.reward if options.reward is not None else first_of(REWARD_FIELDS, table[0].fields) or "rewards"
    kept, understood, left_out = _only_step(file, table, options)
    values = [row.value(field, file.at(row.line)) for row in kept]
    lists = _are_lists(file, field, kept, values)
    gathered: dict[tuple[str, str | None], list[float | bool | None]] = {}
    lines: dict[tuple[str, str | None], int] = {}
    ids, group_names = Names("prompt id"), Names("name of a group")
    for row, value in zip(kept, values, strict=True):
        where = file.at(row.line)
        group = row.fields.get(GROUP_FIELD)
        key = ids.of(row.value(id_field, where), where), None if group is None else group_names.of(group, where)
        if lists and key in lines and not options.merge:
            raise InputError(
                f"{file.name}: prompt {quoted(key[0])} is on line {lines[key]} and again on line {row.line}; "
                "give each group a field group, or add them with --merge"
            )
        lines.setdefault(key, row.line)
        rewards = (value or []) if lists else [value]
        gathered.setdefault(key, []).extend(checked_reward(item, where) for item in rewards)
    empty = sum(not value for value in values) if lists else 0
    left_out += [LeftOut(EMPTY_GROUP, empty)] if empty else []
    groups = [RewardedGroup(prompt, rewards) for (prompt, _), rewards in gathered.items()]
    how = f"{line(field)} is {'a list with the rewards of one group' if lists else 'the reward of one sample'}"
    fields = dict.fromkeys(name for row in table for name in row.fields)
    notes = (how, *understood, *unused_fields(fields, (id_field, field, GROUP_FIELD, STEP_FIELD)))
    return count_groups(file, format_name, groups, notes, left_out, options)


def _are_lists(file: File, field: str, rows: Sequence[Row], values: Sequence[Any]) -> bool:
    """Whether each row holds a list of rewards; a null says neither, and one way goes for the whole file."""
    kinds = [(row.line, isinstance(value, list)) for row, value in zip(rows, values, strict=True) if value is not None]
    if not kinds:
        return False
    first, lists = kinds[0]
    for number, is_list in kinds:
        if is_list is not lists:
            found = f"a list, and one value on line {first}" if is_list else f"not a list as on line {first}"
            raise InputError(f"{file.at(number)}: {line(field)} is {found}; write all rows in one way")
    return lists


def count_groups(
    file: File,
    format_name: str,
    groups: Sequence[RewardedGroup],
    understood: Sequence[str],
    left_out: Sequence[LeftOut],
    options: Options,
) -> Rollouts:
    """Apply the correctness rule; missing rewards are left out and never counted as wrong."""
    present = [value for group in groups for value in group.rewards if value is not None]
    rule = correctness_rule(present, options.threshold, file.name)
    missing = sum(len(group.rewards) for group in groups) - len(present)
    counted: list[Group] = []
    for group in groups:
        rewards = [value for value in group.rewards if value is not None]
        if rewards:
            counted.append(Group(group.prompt, len(rewards), sum(rule.is_correct(value) for value in rewards)))
    notes = [*understood, rule.sentence]
    prompts = len({group.prompt for group in counted})
    if len(counted) > prompts:
        notes.append(f"groups of the same prompt are pooled (groups: {len(counted)}, prompts: {prompts})")
    unrewarded = len({group.prompt for group in groups}) - prompts
    if unrewarded:
        notes.append(f"prompts without any reward, which are not counted as prompts: {unrewarded}")
    dropped = [LeftOut(MISSING_REWARD, missing)] if missing else []
    return Rollouts(file.source, format_name, tuple(counted), tuple(notes), (*left_out, *dropped))


def only_step(
    file: File, steps: Sequence[Any], places: Sequence[str], wanted: int | None
) -> tuple[list[bool], tuple[str, ...], list[LeftOut]]:
    """Keep the rows of one step: another step is another policy, so its samples estimate another pass rate.

    For each row whether it is kept, then a sentence on the step, and what is left out.
    """
    numbers = [_checked_step(step, where) for step, where in zip(steps, places, strict=True)]
    different = list(dict.fromkeys(numbers))
    if wanted is None and len(different) > 1:
        raise InputError(
            f"{file.name}: the rows come from {len(different)} training steps, which are different policies; "
            f"choose one with --step, for example --step {quoted(different[0])}"
        )
    if wanted is not None and wanted not in different:
        raise InputError(
            f"{file.name}: no row is of step {quoted(wanted)}; choose one of {listed(map(quoted, different))}"
        )
    chosen = different[0] if wanted is None else wanted
    keep = [step == chosen for step in numbers]
    left_out = [LeftOut(OTHER_STEP, len(keep) - sum(keep))] if not all(keep) else []
    return keep, (f"all rows used are of training step {chosen}",), left_out


def _checked_step(step: Any, where: str) -> int:
    if step is None:
        raise InputError(f"{where}: the row has no training step, as others have; write it in every row or in none")
    whole = isinstance(step, int) or (isinstance(step, float) and step.is_integer())
    if isinstance(step, bool) or not whole:
        raise InputError(f"{where}: the training step {quoted(step)} is not a whole number; write its number")
    return int(step)


def _only_step(file: File, rows: list[Row], options: Options) -> tuple[list[Row], tuple[str, ...], list[LeftOut]]:
    if not any(STEP_FIELD in row.fields for row in rows):
        if options.step is not None:
            raise InputError(f"{file.name}: the rows have no field step; leave --step out")
        return rows, (), []
    steps, places = [row.fields.get(STEP_FIELD) for row in rows], [file.at(row.line) for row in rows]
    keep, notes, left_out = only_step(file, steps, places, options.step)
    return [row for row, wanted in zip(rows, keep, strict=True) if wanted], notes, left_out
