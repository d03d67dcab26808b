"""The result of reading a table: its rows, and notes about the file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from storage.tables.faults import RowError

Row = tuple[int, Mapping[str, Any] | RowError]  # the number as a person counts rows, and the cells or what is wrong


@dataclass(slots=True)
class Reading:
    """The content of a file: rows, ignored parts, and notes for the user.

    Attributes
    ----------
    rows
        Number of rows that were read, without ``blank`` ones.
    columns
        The names in the header, if the file has one.
    notes
        Sentences, for example about columns that were ignored.
    """

    rows: int = 0
    blank: int = 0
    columns: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def said(self) -> list[str]:
        """Return all notes for the user, as sentences."""
        passed = [f"empty rows passed over: {self.blank:,}"] if self.blank else []
        return passed + self.notes
