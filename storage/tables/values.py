"""One canonical text per value, so that two spellings of a label or an id aren't two labels or two ids."""

import ast
import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from storage.tables.faults import RowError

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?", re.IGNORECASE)
_LONGEST_NUMBER = 50  # characters
_NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
_SHOWN = 5  # pairs of spellings


def clean(text: str) -> str:
    """Return a text in Unicode's composed form (NFC), without blanks around it.

    Examples
    --------
    >>> clean(" cafe\u0301\u00a0")
    'café'
    """
    return text.strip() if text.isascii() else unicodedata.normalize("NFC", text).strip()


def number_of(text: str) -> Decimal | None:
    """Return the finite number in a text, with digits of any script or width; None if it isn't a number.

    Examples
    --------
    >>> number_of("03") == number_of("3.0") == number_of("３") == 3
    True
    >>> number_of("1_000"), number_of("nan")
    (None, None)
    """
    plain = unicodedata.normalize("NFKC", text).strip().replace("\u2212", "-")
    return Decimal(plain) if len(plain) <= _LONGEST_NUMBER and _NUMBER.fullmatch(plain) else None


def number_text(number: Decimal) -> str:
    """Return the shortest usual text of a number; equal numbers have the same text.

    Examples
    --------
    >>> number_text(Decimal("3.00")), number_text(Decimal("0.50")), number_text(Decimal("-0")), number_text(Decimal("1e2"))
    ('3', '0.5', '0', '100')
    """
    if not number:
        return "0"
    found = number.normalize()
    return f"{found:f}" if abs(found.adjusted()) < _LONGEST_NUMBER else str(found)


def is_not_finite(text: str) -> bool:
    """Return whether a text is ``nan`` or ``inf``, which programs write for missing values or overflows."""
    return _NOT_FINITE.fullmatch(text.strip()) is not None


def text_of(value: Any) -> str:
    """Return the text of a value from JSON, Parquet or a workbook; None becomes the empty text, 0 and False don't."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def texts_of(value: Any, column: str) -> list[str]:
    """Return the texts of a value: a list, a cell with a list as JSON or Python writes it, or one text or number.

    Empty texts are left out.

    Raises
    ------
    RowError
        It is none of these.
    """
    found = _list_in(value) if isinstance(value, str) and value.strip().startswith("[") else value
    given = found if isinstance(found, list) else [] if found is None else [found]
    if not all(isinstance(one, str | int | float) and not isinstance(one, bool) for one in given):
        raise RowError('expected a text or a list of texts, such as ["Paris", "the city of Paris"]', column)
    return [" ".join(text.split()) for text in map(text_of, given) if text.strip()]


def _list_in(cell: str) -> Any:
    """Return the list in a cell; the cell itself if it only begins like one."""
    for read in (json.loads, ast.literal_eval):
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            return read(cell.strip())
    return cell


@dataclass(frozen=True, slots=True)
class Spelling:
    """How the values of a column are written: as numbers, if all of them are numbers, or as texts.

    Attributes
    ----------
    canonical
        The canonical text per spelling.
    several
        The spellings that became one value: ``("3", "3.0")``.
    alike
        Values that differ only in case or width and stay separate: ``("Good", "good")``.
    """

    is_number: bool
    canonical: dict[str, str]
    several: tuple[tuple[str, ...], ...] = field(default=())
    alike: tuple[tuple[str, ...], ...] = field(default=())

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Spelling":
        """Return the spelling of a column from its distinct texts, in their order."""
        distinct = list(dict.fromkeys(texts))
        numbers = [number_of(text) for text in distinct]
        if distinct and all(number is not None for number in numbers):
            canonical = {
                text: number_text(number) for text, number in zip(distinct, numbers, strict=True) if number is not None
            }
            return cls(True, canonical, _groups(canonical))
        canonical = {text: clean(text) for text in distinct}
        folded = {text: unicodedata.normalize("NFKC", text).casefold() for text in dict.fromkeys(canonical.values())}
        return cls(False, canonical, (), _groups(folded))

    def text(self, value: str) -> str:
        """Return the canonical text of a value from another file, such as a known answer."""
        number = number_of(value) if self.is_number else None
        return clean(value) if number is None else number_text(number)

    def notes(self, column: str) -> list[str]:
        """Return sentences about merged spellings and similar values."""
        found = [f"column {column}: {_listed(self.several)} are one value"] if self.several else []
        if self.alike:
            found.append(
                f"column {column}: {_listed(self.alike)} differ only by case or width and are different values"
            )
        return found


def _groups(of: dict[str, str]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of at least two keys with the same value."""
    groups: dict[str, list[str]] = defaultdict(list)
    for key, value in of.items():
        groups[value].append(key)
    return tuple(tuple(keys) for keys in groups.values() if len(keys) > 1)


def _listed(groups: tuple[tuple[str, ...], ...]) -> str:
    shown = "; ".join(" and ".join(map(repr, group)) for group in groups[:_SHOWN])
    return shown + (f"; {len(groups) - _SHOWN:,} more" if len(groups) > _SHOWN else "")
