"""Which part of a record of elsewhere becomes which column of a row."""

from collections.abc import Mapping, Sequence
from typing import Any

from sources.rules.faults import RecordFault


def pairs_of(given: Sequence[str]) -> dict[str, str]:
    """Return the path of each column, from ``column=path`` each; a path names keys with dots between them.

    Raises
    ------
    ValueError
        One has no ``=``, an empty side, or a column that an earlier one has.
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
        It lacks one of them.
    """
    return {column: at(record, path) for column, path in paths.items()}


def at(record: Any, path: str) -> Any:
    """Return what stands at a path of a record."""
    found = record
    for key in path.split("."):
        if isinstance(found, Mapping) and key in found:
            found = found[key]
        elif isinstance(found, list) and key.isdecimal() and int(key) < len(found):
            found = found[int(key)]
        else:
            raise RecordFault(path, "is missing")
    return found
