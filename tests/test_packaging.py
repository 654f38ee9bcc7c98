"""What is shipped: the wheel, the console script, the pins, and no trace of the machine it was made on."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import PackageNotFoundError, distribution, entry_points
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("reweight", "proofs_check", "tabular_sims")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
INSTALLERS = ("constraints.txt", "pyproject.toml", "Makefile", ".ci/run")
MACHINE_PATH = re.compile(r"(?<![\w.)}/*-])/(?:home|root|Users|work|srv|mnt|opt)\b")
OUTSIDE = re.compile(r"(?<![\w./-])((?:\.\./)+[\w.-]+(?:/[\w.-]+)*)")


def pins() -> dict[str, Version]:
    """The versions of constraints.txt by canonical name; any line but `name==version` is an error."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    found = {}
    for line in lines:
        if not line.startswith("#"):
            name, version = line.split("==")
            found[canonicalize_name(name, validate=True)] = Version(version)
    return found


def asked(requirement: Requirement, extras: set[str]) -> bool:
    """Whether a requirement's marker holds here under any of the extras."""
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in extras | {""})


def closure(requirements: list[str]) -> set[str]:
    """The names of all that some requirements bring along, as far as it's installed here."""
    found: set[str] = set()
    done: set[tuple[str, str]] = set()
    waiting = [(Requirement(text), {""}) for text in requirements]
    while waiting:
        requirement, extras = waiting.pop()
        key = (str(requirement), str(sorted(extras)))
        if key in done or not asked(requirement, extras):
            continue
        done.add(key)
        found.add(canonicalize_name(requirement.name))
        try:
            below = distribution(requirement.name).requires or []
        except PackageNotFoundError:
            continue
        waiting += [(Requirement(text), set(requirement.extras)) for text in below]
    return found


def committed() -> list[Path]:
    """The text files under version control, or a skip where there's none (an unpacked source archive)."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode:
        pytest.skip("not a git work tree")
    files = [ROOT / name for name in listing.stdout.split("\0") if name]
    return [path for path in files if path.is_file() and b"\0" not in path.read_bytes()]


def traces(text: str, folder: Path, root: Path) -> list[str]:
    """Paths of a machine, and relative paths that leave the repository."""
    leaving = [
        path
        for path in OUTSIDE.findall(text)
        if not any((at / path).resolve().is_relative_to(root) for at in (folder, root))
    ]
    return MACHINE_PATH.findall(text) + leaving


def test_everything_the_sets_install_is_pinned() -> None:
    extras = PROJECT["optional-dependencies"]
    wanted = [*PROJECT["dependencies"], *(text for name in extras if name != "frameworks" for text in extras[name])]
    names = closure(wanted)
    assert len(names) > len(wanted)
    assert sorted(names - pins().keys()) == []


def test_the_pins_satisfy_the_project() -> None:
    for text in [
        *PROJECT["dependencies"],
        *(text for extra in PROJECT["optional-dependencies"].values() for text in extra),
    ]:
        requirement = Requirement(text)
        pin = pins().get(canonicalize_name(requirement.name))
        assert pin is None or pin in requirement.specifier, f"{text} is pinned to {pin}"


def test_the_pins_are_sorted_and_of_no_local_build() -> None:
    names = list(pins())
    assert names == sorted(names)
    assert [name for name, version in pins().items() if version.local] == []


def test_the_console_script_is_the_command_line() -> None:
    (script,) = [entry for entry in entry_points(group="console_scripts") if entry.name == "reweight"]
    from reweight.cli import main

    assert script.load() is main


@pytest.mark.slow
def test_the_wheel_holds_the_typed_packages_and_nothing_else(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"{package}/py.typed" for package in PACKAGES} <= names
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert {name.split("/")[0] for name in names} == {*PACKAGES, f"grpo_reweight-{PROJECT['version']}.dist-info"}


def test_no_committed_file_names_a_machine() -> None:
    found = {
        str(path.relative_to(ROOT)): traces(path.read_text(encoding="utf-8"), path.parent, ROOT) for path in committed()
    }
    assert {name: places for name, places in found.items() if places} == {}


def test_what_installs_names_no_host() -> None:
    for name in INSTALLERS:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "://" not in text, f"{name} names an address"
        assert not re.search(r"(?:index|extra|find)-(?:url|links)", text), f"{name} names a package index"


@pytest.mark.parametrize(
    ("text", "caught"),
    [
        ("see |home|me|x", True),
        ("`|work|x`", True),
        ("open ..|..|elsewhere|data.json", True),
        ("[log](..|CHANGELOG.md)", False),
        ("a|work|b and $(ROOT)|work and https:||example.org|home", False),
        ("|tmp|x", False),
    ],
)
def test_a_trace_is_caught(text: str, caught: bool) -> None:
    assert bool(traces(text.replace("|", "/"), ROOT / "docs", ROOT)) is caught  # bars: this file is looked at too
