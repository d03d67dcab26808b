"""Columns of published tables: their names, types and meaning, and the functions that fill task types' own columns."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """The type of a column. Any value may be null."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    JSON = "JSON as text"


@dataclass(frozen=True, slots=True)
class Column:
    """One column; ``meaning`` is its English description for readers of the dataset."""

    name: str
    kind: Kind
    meaning: str


@dataclass(frozen=True, slots=True)
class Filled:
    """A column that a task type fills from an answer or an item's content.

    ``is_told``: whether published files contain it; if not, annotations imported from such files have null here.
    ``is_source``: whether it holds text of the source; releases of labels alone leave such columns out.
    """

    column: Column
    of: Callable[[Any], Any]
    is_told: bool = True
    is_source: bool = False


def kind_of(labels: Iterable[Any]) -> Kind:
    """Return the type of a column that holds one of some labels."""
    return Kind.INTEGER if all(isinstance(label, int) for label in labels) else Kind.TEXT


def of_key(name: str, kind: Kind, meaning: str, *, is_source: bool = False) -> Filled:
    """Return a column with the value under its own name; null if there is none."""
    return Filled(Column(name, kind, meaning), lambda value: value.get(name), is_source=is_source)
