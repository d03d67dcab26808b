"""Files of systems' outputs for items: JSON lines with ``item_id`` and, mostly, ``label``."""

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import orjson

from storage.text_files import LineFault, naming, text_lines

T = TypeVar("T")


def read_label_lines(path: Path, allowed: Collection[str], *, most: int) -> Iterator[tuple[str, str]]:
    """Yield (item, label) of each line, as text; raise like `read_item_lines`, and for labels not ``allowed``."""

    def label_of(row: Mapping[str, Any]) -> str:
        label = str(row.get("label"))
        if label not in allowed:
            raise LineFault(f"label: {label[:40]!r} is none of {', '.join(sorted(allowed)[:20])}")
        return label

    return read_item_lines(path, label_of, most=most)


def read_item_lines(path: Path, value_of: Callable[[Mapping[str, Any]], T], *, most: int) -> Iterator[tuple[str, T]]:
    """Yield item and value of each line.

    Parameters
    ----------
    value_of
        Returns the value of a line's object, or raises `LineFault`.
    most
        The maximum number of lines in the file.

    Raises
    ------
    EvaluationError
        A line isn't an object with an ``item_id``, has no value, or repeats an item; names file and line.
    """
    seen: set[str] = set()
    for number, text in text_lines(path, most=most):
        with naming(path, number):
            row = _row(text)
            item, value = row["item_id"], value_of(row)
            if item in seen:
                raise LineFault(f"item_id: there is an earlier line for {item[:40]}")
        seen.add(item)
        yield item, value


def _row(text: str) -> Mapping[str, Any]:
    try:
        row = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise LineFault(f"isn't valid JSON: {error}") from error
    if not isinstance(row, Mapping) or not isinstance(row.get("item_id"), str):
        raise LineFault("item_id: expected an object that has it, as a text")
    return row
