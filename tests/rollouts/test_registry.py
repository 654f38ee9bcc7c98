"""Each reader of the folder is registered, and keeps the contract."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from reweight import rollouts
from reweight.rollouts.reader import Options
from reweight.rollouts.registry import READERS


def test_every_reader_in_the_folder_is_registered_once() -> None:
    folder = Path(rollouts.__file__).parent
    found = {path.stem for path in folder.glob("*.py") if "\nNAME = " in path.read_text()}
    assert found == set(READERS)
    assert len(READERS) == len(set(READERS))


def test_readers_have_names_of_their_own_and_honour_known_options() -> None:
    readers = [import_module(f"reweight.rollouts.{name}") for name in READERS]
    assert len({reader.NAME for reader in readers}) == len(readers)
    for reader in readers:
        assert set(vars(Options())) >= reader.OPTIONS
        assert reader.HOLDS
