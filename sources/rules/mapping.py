"""The mapping from the parts of another tool's record to the columns of a row."""

from collections.abc import Mapping, Sequence
from typing import Any

from sources.rules.faults import RecordFault


def pairs_of(given: Sequence[str]) -> dict[str, str]:
    """Return the path of each column, from arguments ``column=path``; a path is keys separated by dots.

    Raises
    ------
    ValueError
        An argument has no ``=``, an empty side, or a column that an earlier argument has.
    """
    found: dict[str, str] = {}
    for one in given:
        column, equals, path = one.partition("=")
        if not equals or not column.strip() or not path.strip():
            raise ValueError(f"{one!r}: expected column=path, such as question=data.text")
        if column in found:
            raise ValueError(f"{column} is named twice")
        found[column.strip()] = path.strip()
    return found


def mapped(record: Mapping[str, Any], paths: Mapping[str, str]) -> dict[str, Any]:
    """Return the columns of a record.

    Raises
    ------
    RecordFault
        The record lacks one of them.
    """
    return {column: at(record, path) for column, path in paths.items()}


def at(record: Any, path: str) -> Any:
    """Return the value at a path of a record; keys may contain dots, as in `Input.text`.

    Examples
    --------
    >>> at({"Input.text": "a", "data": {"q": ["b"]}}, "Input.text"), at({"data": {"q": ["b"]}}, "data.q.0")
    ('a', 'b')
    """
    found, keys = record, path.split(".")
    while keys:
        if isinstance(found, Mapping):
            joined = next((n for n in range(len(keys), 0, -1) if ".".join(keys[:n]) in found), 0)
            if joined:
                found, keys = found[".".join(keys[:joined])], keys[joined:]
                continue
        elif isinstance(found, list) and keys[0].isdecimal() and int(keys[0]) < len(found):
            found, keys = found[int(keys[0])], keys[1:]
            continue
        raise RecordFault(path, "is missing")
    return found
