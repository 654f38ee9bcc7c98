"""Columns of a parquet file, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from reweight.errors import InputError
from reweight.rollouts.files import File, Row
from reweight.terminal import line

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["batches", "columns", "is_number", "numbers", "parquet_rows", "table"]

BATCH_ROWS = 2**16
DAMAGED = "the parquet is truncated or damaged; write or copy it again"


def columns(file: File) -> dict[str, pa.DataType]:
    """Name and type of each column.

    Raises
    ------
    InputError
        If the file is damaged, or a name is written twice.
    """
    import pyarrow.parquet as pq

    with file.open() as stream, _readable(file):
        schema = pq.ParquetFile(stream).schema_arrow
    if len(set(schema.names)) < len(schema.names):
        raise InputError(f"{file.name}: a column name is written twice; give each column its own name")
    return {field.name: field.type for field in schema}


def batches(file: File, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Record batches of some columns; memory goes with the largest page, not with the number of rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    # Without the read cache, and with buffered reading, a row group is streamed and not loaded whole.
    pool = pa.default_memory_pool()
    with file.open() as stream, _readable(file):
        parquet = pq.ParquetFile(stream, pre_buffer=False, buffer_size=2**20)
        for number, batch in enumerate(parquet.iter_batches(BATCH_ROWS, columns=list(names))):
            batch.validate(full=True)
            if number % 64 == 63:
                pool.release_unused()
            yield batch


def parquet_rows(file: File) -> Iterator[Row]:
    """Every row as Python values, numbered from 1."""
    number = 0
    for batch in batches(file, list(columns(file))):
        for fields in batch.to_pylist():
            number += 1
            yield Row(number, fields)


def table(file: File, names: Sequence[str] | None = None) -> pa.Table:
    """The whole table; for files that are small by their nature."""
    import pyarrow.parquet as pq

    with file.open() as stream, _readable(file):
        whole = pq.ParquetFile(stream).read(columns=None if names is None else list(names))
        whole.validate(full=True)
        return whole


def is_number(kind: pa.DataType) -> bool:
    """Whether a column holds floats, integers or booleans."""
    import pyarrow.types as types

    return bool(types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind))


def numbers(column: pa.Array | pa.ChunkedArray, name: str, file: File) -> list[Any]:
    """A column as floats, or as bools where it holds these; None where a value is missing."""
    import pyarrow as pa

    if pa.types.is_boolean(column.type):
        return list(column.to_pylist())
    try:
        return list(column.cast(pa.float64()).to_pylist())
    except pa.ArrowInvalid as error:
        raise InputError(
            f"{file.name}: the column {line(name)} has more digits than a float holds; write fewer"
        ) from error


@contextmanager
def _readable(file: File) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{file.name}: {DAMAGED}") from error
