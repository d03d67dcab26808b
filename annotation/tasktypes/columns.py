"""Columns of published tables: their names, types and meaning, and how a task type fills those that are its own."""

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
    """One column; ``meaning`` is what a reader of the dataset is told about it, in English."""

    name: str
    kind: Kind
    meaning: str


@dataclass(frozen=True, slots=True)
class Filled:
    """A column that a task type fills from an answer, or from what an item holds.

    ``is_told``: whether published files tell it too; if not, it is null of annotations that came from one.
    ``is_source``: whether it holds text of the source, which releases of labels alone leave out.
    """

    column: Column
    of: Callable[[Any], Any]
    is_told: bool = True
    is_source: bool = False


def kind_of(labels: Iterable[Any]) -> Kind:
    """Return the type of a column that holds one of some labels."""
    return Kind.INTEGER if all(isinstance(label, int) for label in labels) else Kind.TEXT


def of_key(name: str, kind: Kind, meaning: str, *, is_source: bool = False) -> Filled:
    """Return a column that holds what stands under its own name, null where nothing does."""
    return Filled(Column(name, kind, meaning), lambda value: value.get(name), is_source=is_source)
