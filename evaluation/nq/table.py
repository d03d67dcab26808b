"""Annotations of a Quorate release, read from the tables beside the shards, without reading the pages."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from evaluation.nq.answers import OFFSETS, YES_NO, AnswerFault, Gold, span_at
from exports.released.parquet import ParquetFault, rows_of

PATTERN = "tables/annotations-*.parquet"
_COLUMNS = ["item_id", *(f"long_{name}" for name in OFFSETS), "short_answers", "yes_no_answer"]
NO_SPANS = "[]"
LONGEST = 20_000  # signs of short answers: some five hundred


class TableFault(ValueError):
    """A table cannot be read; the message names row and column."""


def examples_of_table(path: Path) -> Iterator[tuple[int, int, list[Gold]]]:
    """Yield row, id and annotations of each example; rows of one example are consecutive.

    Raises
    ------
    TableFault
    """
    example_id, first, annotations = "", 1, list[Gold]()
    try:
        for row, (item_id, *offsets, shorts, yes_no) in enumerate(rows_of(path, _COLUMNS), 1):
            if item_id != example_id:
                if annotations:
                    yield first, _number(example_id, first), annotations
                example_id, first, annotations = item_id, row, []
            annotations.append(_gold(row, tuple(offsets), shorts, yes_no))
    except ParquetFault as fault:
        raise TableFault(f"isn't a table of annotations: {fault}") from fault
    if annotations:
        yield first, _number(example_id, first), annotations


def _number(item_id: Any, row: int) -> int:
    try:
        return int(item_id)
    except (TypeError, ValueError):
        raise TableFault(f"row {row}: item_id: expected a whole number") from None


def _gold(row: int, offsets: tuple[Any, ...], shorts: Any, yes_no: Any) -> Gold:
    try:
        long = span_at(offsets, "long answer")
        return Gold(long, () if shorts == NO_SPANS else tuple(_spans(shorts)), _said(yes_no))
    except AnswerFault as fault:
        raise TableFault(f"row {row}: {fault}") from fault
    except (orjson.JSONDecodeError, TypeError, AttributeError, ValueError) as error:
        raise TableFault(f"row {row}: {error}") from error


def _said(yes_no: Any) -> str:
    said = yes_no.lower() if isinstance(yes_no, str) else ""
    if said not in YES_NO:
        raise AnswerFault("yes_no_answer", "expected YES, NO or NONE")
    return said


def _spans(text: str) -> Iterator[Any]:
    if len(text) > LONGEST:
        raise ValueError(f"short_answers: longer than {LONGEST:,} signs")
    for number, offsets in enumerate(orjson.loads(text)):
        span = span_at(tuple(offsets), f"short_answers[{number}]")
        if span is not None:
            yield span
