from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from claim_files import write_claim
from proofs_check.registry import FOLDER, discover, load, select
from reweight.errors import InputError


def test_every_file_of_the_package_is_found() -> None:
    files = {path for path in FOLDER.glob("*/*.py") if path.name != "__init__.py"}
    assert {entry.path for entry in discover()} == files
    assert {entry.topic for entry in discover()} == {path.parent.name for path in files}


def test_a_file_name_begins_with_the_id_that_it_declares() -> None:
    for entry in discover():
        assert entry.path.name.startswith(f"{(entry.claim.parent or entry.claim.id).lower()}_")


def test_two_files_with_one_id_are_refused(tmp_path: Path) -> None:
    write_claim(tmp_path, claim_id="C58")
    with pytest.raises(InputError, match="declared twice"):
        select([str(tmp_path / "C58.py")])
    topic = tmp_path / "topic"
    topic.mkdir()
    first = write_claim(topic, claim_id="same").rename(topic / "c01_one.py")
    shutil.copy(first, topic / "c02_two.py")
    with pytest.raises(InputError, match="declared twice"):
        discover(tmp_path)


def test_selection_by_id_includes_the_dropped_hypotheses() -> None:
    ids = [entry.claim.id for entry in select(["c58"])]
    assert ids[0] == "C58"
    assert "C58-binary-rewards" in ids
    assert {entry.topic for entry in select(topic="support")} == {"support"}


def test_a_file_given_by_path_has_the_topic_own(tmp_path: Path) -> None:
    (entry,) = select([str(write_claim(tmp_path))])
    assert (entry.claim.id, entry.topic) == ("square", "own")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "there is no claim file"),
        ("x = 1", "must define CLAIM"),
        ("import no_such_module", "does not run"),
        ("def broken(:", "does not run"),
        ("CLAIM = 3", "must define CLAIM"),
    ],
)
def test_an_unusable_file_is_refused_in_one_sentence(tmp_path: Path, content: str | None, words: str) -> None:
    path = tmp_path / "own.py"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError, match=words) as caught:
        load(path)
    assert "\n" not in str(caught.value)


def test_unknown_ids_and_topics_are_refused() -> None:
    with pytest.raises(InputError, match="no claim 'C999'"):
        select(["C999"])
    with pytest.raises(InputError, match="no topic 'sports'"):
        select(topic="sports")
