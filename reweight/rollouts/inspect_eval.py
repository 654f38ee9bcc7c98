"""Logs of inspect_ai as .eval: a zip with one member a sample and epoch."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from reweight.errors import InputError
from reweight.rollouts.files import LONGEST_LINE, File
from reweight.rollouts.inspect_scores import read_samples
from reweight.rollouts.reader import Options
from reweight.rollouts.strict_json import decoded
from reweight.rollouts.table import Rollouts
from reweight.terminal import line

NAME = "inspect-eval"
HOLDS = "an inspect_ai log: a zip with samples/<id>_epoch_<n>.json"
OPTIONS = frozenset({"threshold", "reward"})

FOLDER, ENDING = "samples/", ".json"


def recognises(file: File) -> bool:
    """Whether it is a zip."""
    return file.kind == "zip"


def read(file: File, options: Options) -> Rollouts:
    """Each id is a prompt, each of its epochs a sample; of members with one name the last is the valid one."""
    return read_samples(file, _samples(file), NAME, options)


def _samples(file: File) -> Iterator[tuple[str, Any]]:
    import zipfile_zstd  # noqa: F401 - teaches zipfile the compression that newer logs have
    import zstandard

    broken = (zipfile.BadZipFile, zlib.error, zstandard.ZstdError, EOFError, OSError, RuntimeError, ValueError)
    try:
        with file.open() as stream, zipfile.ZipFile(stream) as archive:
            latest = {member.filename: member for member in archive.infolist()}
            names = [name for name in latest if name.startswith(FOLDER) and name.endswith(ENDING)]
            for name in names:
                where = f"{file.name}, {line(name)}"
                yield where, decoded(_text(archive, latest[name], where), where, "log the sample again")
    except InputError:
        raise
    except broken as error:
        raise InputError(f"{file.name}: the zip is truncated or damaged ({line(error, 80)}); copy it again") from error
    if not names:
        raise InputError(f"{file.name}: the zip has no {FOLDER}<id>_epoch_<n>{ENDING}; give an .eval log")


def _text(archive: zipfile.ZipFile, member: zipfile.ZipInfo, where: str) -> str:
    with archive.open(member) as stream:
        content = stream.read(LONGEST_LINE + 1)
    if len(content) > LONGEST_LINE:
        raise InputError(f"{where}: the sample has more than {LONGEST_LINE >> 20} MiB; leave it out")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: the text is not UTF-8; log the sample again") from error
