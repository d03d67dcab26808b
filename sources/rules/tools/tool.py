"""What all exports come to: who gave an item which label, and what is known of it."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sources.rules.faults import RecordFault
from storage.tables.values import text_of

SKIPPED, SEVERAL = "skipped annotations", "answers with several labels or none"
Passed = Counter[str]  # how many results of a type were passed over


class GivenLabel(NamedTuple):
    """One label of an item; ``worker`` is empty where the export names nobody."""

    worker: str
    label: str
    is_truth: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """How the export of a tool is read.

    Attributes
    ----------
    names_of
        Yields the names of the questions that a record answers.
    labels_of
        Yields what a record says under a name (None: the only one), and counts what it passes over. It also gets the
        name of the file, which some tools call by the annotator.
    ids
        Where records have their id, in order of preference; a path with ``--map id=`` comes first.
    quoted
        Whether cells of its TSV files may be in quotation marks, as in CSV.
    record_of
        Makes a record of a line, where files are neither tables nor JSON.
    """

    names_of: Callable[[Mapping[str, Any]], Iterator[str]]
    labels_of: Callable[[Mapping[str, Any], str | None, Passed, str], Iterator[GivenLabel]]
    ids: tuple[str, ...] = ("id",)
    quoted: bool = False
    record_of: Callable[[str], Mapping[str, Any]] | None = None


def one_label(value: Any) -> str | None:
    """Return the one label of a value, or None where there are several or none."""
    if isinstance(value, list):
        value = value[0] if len(value) == 1 else None
    return text_of(value).strip() or None if isinstance(value, str | int | float) else None


def listed(record: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return a list of records that a record holds.

    Raises
    ------
    RecordFault
    """
    found = record.get(name) or []
    if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
        raise RecordFault(name, "isn't a list of records")
    return found
