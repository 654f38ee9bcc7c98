"""Presets, overrides, and differences of objectives."""

import pytest

from reweight.errors import InputError
from reweight.objectives import Advantage, Objective, Ratio, diff, flatten, preset
from reweight.objectives.presets import presets


def test_each_preset_says_where_it_was_read():
    assert [item.name for item in presets()] == sorted(item.name for item in presets())
    for item in presets():
        assert preset(item.name) == item.objective == preset(item.name, item.version)
        assert item.version.split(".")[0] in item.source or item.version in item.source


def test_trl_and_verl_differ_where_the_frameworks_do():
    assert diff(preset("trl"), preset("verl")) == {
        "advantage.eps": (1e-4, 1e-6),
        "advantage.singleton": ("zero", "reward"),
        "clip.dual": (None, 3.0),
        "clip.log_ratio_limit": (None, 20.0),
    }
    assert diff(preset("trl"), preset("trl")) == {}


def test_overrides_replace_fields():
    changed = preset("trl", group_size=16, aggregation="sequence_mean")
    assert (changed.group_size, changed.aggregation) == (16, "sequence_mean")
    assert changed.advantage == preset("trl").advantage


def test_every_field_is_listed_as_a_json_value():
    table = Objective(Advantage(), 8).to_dict()
    assert table["advantage.baseline"] == "mean"
    assert table["clip"] is None
    assert set(table) == set(flatten(Objective(Advantage(), 8)))
    assert "group_size" in str(Objective(Advantage(), 8))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: preset("ppo"), "no preset 'ppo'"),
        (lambda: preset("trl", "0.1"), "not 0.1"),
        (lambda: preset("trl", flavour=1), "cannot be changed"),
        (lambda: preset("trl", group_size=1), "group of one"),
        (lambda: Objective(Advantage(), 0), "at least 1"),
        (lambda: Objective(Advantage(), True), "an integer"),
        (lambda: Objective(Advantage(), 8, aggregation="mean"), "aggregation"),
        (lambda: Objective(Advantage(), 8, constant_length=5), "give both or neither"),
        (lambda: Objective(Advantage(), 8, aggregation="constant"), "give both or neither"),
        (lambda: Objective(Advantage(), 8, aggregation="constant", constant_length=0), "constant_length"),
        (lambda: Ratio("word"), "ratio level"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
