"""The common form of all exports: the label that an annotator gave to an item, and known answers."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sources.rules.faults import RecordFault
from storage.tables.values import text_of

SKIPPED, SEVERAL = "skipped annotations", "answers with several labels or none"
Passed = Counter[str]  # how many results of a type were passed over


class GivenLabel(NamedTuple):
    """One label of an item; ``worker`` is empty if the export has no name for the annotator."""

    worker: str
    label: str
    is_truth: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """How to read the export of a tool.

    Attributes
    ----------
    names_of
        Yields the names of the questions that a record answers.
    labels_of
        Yields a record's labels under a name (None: the only one), and counts the parts that it ignores. It also gets
        the name of the file, which in some tools is the name of the annotator.
    ids
        The fields for the id of a record, in order of preference; a path with ``--map id=`` comes first.
    quoted
        Whether cells of its TSV files may be in quotation marks, as in CSV.
    record_of
        Makes a record of a line, for files that are neither tables nor JSON.
    """

    names_of: Callable[[Mapping[str, Any]], Iterator[str]]
    labels_of: Callable[[Mapping[str, Any], str | None, Passed, str], Iterator[GivenLabel]]
    ids: tuple[str, ...] = ("id",)
    quoted: bool = False
    record_of: Callable[[str], Mapping[str, Any]] | None = None


def one_label(value: Any) -> str | None:
    """Return the only label of a value, or None if there are several or there isn't any."""
    if isinstance(value, list):
        value = value[0] if len(value) == 1 else None
    return text_of(value).strip() or None if isinstance(value, str | int | float) else None


def listed(record: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return a list of records in a record.

    Raises
    ------
    RecordFault
    """
    found = record.get(name) or []
    if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
        raise RecordFault(name, "isn't a list of records")
    return found
