"""Rewards of single samples, gathered into groups and counted by the correctness rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from reweight.errors import InputError
from reweight.rollouts.correctness import checked_reward, correctness_rule
from reweight.rollouts.files import File, Row
from reweight.rollouts.reader import ID_FIELDS, Options, first_of, prompt_id, unused_fields
from reweight.rollouts.table import Group, LeftOut, Rollouts

__all__ = ["MISSING_REWARD", "RewardedGroup", "count_groups", "holds_rewards", "only_step", "read_rewards"]

REWARD_FIELDS = ("acc", "passed", "correct", "rewards", "reward", "score")
MISSING_REWARD = "samples without a reward (null or NaN)"


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
        raise InputError(f"{file.source}: there is no row under the header; give at least one sample")
    table, understood, other_steps = _only_step(file, table, options)
    field = options.reward or first_of(REWARD_FIELDS, table[0].fields)
    gathered: dict[tuple[str, Any], list[float | bool | None]] = {}
    lines: dict[tuple[str, Any], int] = {}
    lists = False
    for row in table:
        where = f"{file.source}, line {row.line}"
        id_field = first_of(ID_FIELDS, row.fields)
        prompt = prompt_id(row.fields[id_field] if id_field else None, where)
        if field is None or field not in row.fields:
            raise InputError(f"{where}: the row has no field {field or 'rewards'}; give every row the same fields")
        value = row.fields[field]
        key = (prompt, str(row.fields.get("group")))
        if isinstance(value, list):
            lists = True
            if key in lines and not options.merge:
                raise InputError(
                    f"{file.source}: prompt {prompt!r} is on line {lines[key]} and again on line {row.line}; "
                    "give each group a field group, or add them with --merge"
                )
        elif lists:
            raise InputError(f"{where}: {field} is not a list as on the lines before; write all rows in one way")
        lines.setdefault(key, row.line)
        values = value if isinstance(value, list) else [value]
        gathered.setdefault(key, []).extend(checked_reward(item, where) for item in values)
    groups = [RewardedGroup(prompt, rewards) for (prompt, _), rewards in gathered.items()]
    used = (*ID_FIELDS, field, "group", "step")
    how = f"{field} is {'a list with the rewards of one group' if lists else 'the reward of one sample'}"
    notes = (how, *understood, *unused_fields(dict.fromkeys(name for row in table for name in row.fields), used))
    return count_groups(file.source, format_name, groups, notes, other_steps, options)


def count_groups(
    source: str,
    format_name: str,
    groups: Sequence[RewardedGroup],
    understood: Sequence[str],
    left_out: Sequence[LeftOut],
    options: Options,
) -> Rollouts:
    """Apply the correctness rule; missing rewards are left out and never counted as wrong."""
    present = [value for group in groups for value in group.rewards if value is not None]
    rule = correctness_rule(present, options.threshold, source)
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
    return Rollouts(source, format_name, tuple(counted), tuple(notes), (*left_out, *dropped))


def only_step(source: str, steps: Sequence[Any], wanted: int | None) -> tuple[list[bool], tuple[str, ...]]:
    """Keep the rows of one step: another step is another policy, so its samples estimate another pass rate."""
    different = list(dict.fromkeys(steps))
    if wanted is None and len(different) > 1:
        raise InputError(
            f"{source}: the rows come from {len(different)} training steps, which are different policies; "
            f"choose one with --step, for example --step {different[0]}"
        )
    if wanted is not None and wanted not in different:
        raise InputError(f"{source}: no row is of step {wanted}; choose one of {', '.join(map(str, different[:9]))}")
    chosen = different[0] if wanted is None else wanted
    return [step == chosen for step in steps], (f"all rows used are of training step {chosen}",)


def _only_step(file: File, rows: list[Row], options: Options) -> tuple[list[Row], tuple[str, ...], list[LeftOut]]:
    if not any("step" in row.fields for row in rows):
        if options.step is not None:
            raise InputError(f"{file.source}: the rows have no field step; leave --step out")
        return rows, (), []
    keep, notes = only_step(file.source, [row.fields.get("step") for row in rows], options.step)
    kept = [row for row, wanted in zip(rows, keep, strict=True) if wanted]
    dropped = len(rows) - len(kept)
    return kept, notes, [LeftOut("rows of other steps", dropped)] if dropped else []
