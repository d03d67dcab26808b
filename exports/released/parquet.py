"""Rows of untrusted Parquet files, in which a few bytes can expand to gigabytes."""

from collections.abc import Iterator
from pathlib import Path
from struct import calcsize
from typing import Any, Literal

from storage.lines import MAX_RATIO, RATIO_FREE_BYTES

BATCH = 2_000  # rows in memory at a time
MOST_OF_A_BATCH = 2**28  # bytes of its text
LEAST_OF_A_ROW = 40  # bytes that the values of a row take in memory
_LAYOUTS: dict[str, Literal["i", "q", "d"]] = {"int32": "i", "int64": "q", "double": "d"}  # Arrow's numbers, in C


class ParquetFault(ValueError):
    """A file is damaged, or isn't a table of a release; the message gives the reason."""


def names_of(path: Path) -> list[str]:
    """Return the names of the columns.

    Raises
    ------
    ParquetFault
    """
    import pyarrow as pa  # noqa: PLC0415  loaded where a file is read
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        return list(pq.read_schema(path).names)
    except MemoryError:  # Arrow's own is one of its exceptions too
        raise
    except (OSError, pa.ArrowException) as error:
        raise ParquetFault(f"can't be read: {error}") from error


def rows_of(path: Path, columns: list[str]) -> Iterator[tuple[Any, ...]]:
    """Yield the values of some columns, row by row.

    Text is read as dictionary indices, so that the memory for a batch is known before it is allocated.

    Raises
    ------
    ParquetFault
        A column is missing or has an unknown type, the file is damaged, or it unpacks to more data than plausible.
    """
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        schema = pq.read_schema(path)
        texts = [name for name in columns if _is_text(schema, name)]
        # Without threads: at the end of a process, Arrow's can abort it (apache/arrow issue 34314).
        with pq.ParquetFile(path, read_dictionary=texts, pre_buffer=False) as file:
            _check_ratio(file.metadata, path)
            missing = file.metadata.num_rows
            for batch in file.iter_batches(BATCH, columns=columns, use_threads=False):
                missing -= len(batch)
                if missing < 0:
                    raise ParquetFault(f"holds more rows than the {file.metadata.num_rows:,} that it says")
                _check_batch(batch)
                yield from zip(*(_values(batch.column(name)) for name in columns), strict=True)
    except MemoryError:  # Arrow's own is one of its exceptions too
        raise
    except (OSError, IndexError, pa.ArrowException) as error:  # an index: of a text that is not there
        raise ParquetFault(f"can't be read: {error}") from error


def _is_text(schema: Any, name: str) -> bool:
    import pyarrow.types as kinds  # noqa: PLC0415

    if schema.names.count(name) != 1:
        raise ParquetFault(f"has {'more than one' if name in schema.names else 'no'} column {name}")
    kind = schema.field(name).type
    if kinds.is_string(kind):
        return True
    if not (kinds.is_int64(kind) or kinds.is_float64(kind) or kinds.is_boolean(kind)):
        raise ParquetFault(f"its column {name} is of a kind that no table has: {kind}")
    return False


def _check_ratio(about: Any, path: Path) -> None:
    size = sum(about.row_group(group).total_byte_size for group in range(about.num_row_groups))
    if max(size, about.num_rows * LEAST_OF_A_ROW) > max(RATIO_FREE_BYTES, MAX_RATIO * path.stat().st_size):
        raise ParquetFault(f"unpacks to more than {MAX_RATIO} times its size")


def _values(column: Any) -> list[Any]:
    """Return the values of a column; ten times as fast as Arrow's own conversion if no value is missing."""
    import pyarrow.types as kinds  # noqa: PLC0415

    if kinds.is_dictionary(column.type):
        return _texts(column.dictionary, _values(column.indices))
    found: list[Any]
    if str(column.type) in _LAYOUTS and len(column) and not column.null_count:
        code = _LAYOUTS[str(column.type)]
        begins, ends = (place * calcsize(code) for place in (column.offset, column.offset + len(column)))
        found = memoryview(column.buffers()[1])[begins:ends].cast("B").cast(code).tolist()
    else:
        found = column.to_pylist()
    return found


def _texts(dictionary: Any, indices: list[int | None]) -> list[str | None]:
    """Return the texts at some indices; Arrow would read out of bounds below 0, and convert all of them per batch."""
    used = {index for index in indices if index is not None}
    if used and min(used) < 0:
        raise ParquetFault("names a text that is not there")
    texts = {index: dictionary[index].as_py() for index in used}
    return [None if index is None else texts[index] for index in indices]


def _check_batch(batch: Any) -> None:
    import pyarrow.types as kinds  # noqa: PLC0415

    texts = [column for column in batch.columns if kinds.is_dictionary(column.type)]
    if len(batch) * sum(one.dictionary.nbytes for one in texts) <= MOST_OF_A_BATCH:
        return
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415  a twentieth of a second that few files need

    sizes = (
        pc.sum(pc.take(pc.cast(pc.binary_length(one.dictionary), pa.int64()), one.indices)).as_py() for one in texts
    )
    if sum(size or 0 for size in sizes) > MOST_OF_A_BATCH:
        raise ParquetFault(f"holds more than {MOST_OF_A_BATCH:,} bytes of text in {BATCH:,} rows")
