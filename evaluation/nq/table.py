"""The annotations of a release of Quorate, read from its table beside the shards: the pages are not touched at all."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from documents.lines import MAX_RATIO, RATIO_FREE_BYTES
from evaluation.nq.answers import OFFSETS, AnswerFault, Gold, span_at

PATTERN = "tables/annotations-*.parquet"
_COLUMNS = ["item_id", *(f"long_{name}" for name in OFFSETS), "short_answers", "yes_no_answer"]
LEAST_OF_A_ROW = 40  # bytes that the values of a row take in memory
NO_SPANS = "[]"


class TableFault(ValueError):
    """A table cannot be read; the message says which row and column."""


def examples_of_table(path: Path) -> Iterator[tuple[int, int, list[Gold]]]:
    """Yield row, id and annotations of each example; its rows stand together.

    Raises
    ------
    TableFault
    """
    import pyarrow as pa  # noqa: PLC0415  a tenth of a second that shards do not need
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        _check_size(pq.read_metadata(path), path)
        table = pq.read_table(path, columns=_COLUMNS)
        missing = [name for name in _COLUMNS if name not in table.column_names]
        if missing:
            raise TableFault(f"is no table of annotations: it has no column {missing[0]}")
        columns = [table.column(name).to_pylist() for name in _COLUMNS]
    except (OSError, pa.ArrowException) as error:
        raise TableFault(f"is no table of annotations: {error}") from error
    example_id, first, annotations = "", 1, list[Gold]()
    for row, (item_id, *values) in enumerate(zip(*columns, strict=True), 1):
        if item_id != example_id:
            if annotations:
                yield first, _number(example_id, first), annotations
            example_id, first, annotations = item_id, row, []
        annotations.append(_gold(row, *values))
    if annotations:
        yield first, _number(example_id, first), annotations


def _check_size(about: Any, path: Path) -> None:
    """Refuse what was made to fill a memory: no annotation takes less than a few bytes, however well it packs."""
    size = sum(about.row_group(group).total_byte_size for group in range(about.num_row_groups))
    if max(size, about.num_rows * LEAST_OF_A_ROW) > max(RATIO_FREE_BYTES, MAX_RATIO * path.stat().st_size):
        raise TableFault(f"unpacks to more than {MAX_RATIO} times its size")


def _number(item_id: Any, row: int) -> int:
    try:
        return int(item_id)
    except (TypeError, ValueError):
        raise TableFault(f"row {row}: item_id: expected a whole number") from None


def _gold(row: int, *values: Any) -> Gold:
    *offsets, shorts, yes_no = values
    try:
        long = span_at(tuple(offsets), "long answer")
        return Gold(long, () if shorts == NO_SPANS else tuple(_spans(shorts)), yes_no.lower())
    except AnswerFault as fault:
        raise TableFault(f"row {row}: {fault}") from fault
    except (orjson.JSONDecodeError, TypeError, AttributeError, ValueError) as error:
        raise TableFault(f"row {row}: {error}") from error


def _spans(text: str) -> Iterator[Any]:
    for number, offsets in enumerate(orjson.loads(text)):
        span = span_at(tuple(offsets), f"short_answers[{number}]")
        if span is not None:
            yield span
