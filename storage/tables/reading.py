"""What comes of reading a table: its rows, and what there is to say of the file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from storage.tables.faults import RowError

Row = tuple[int, Mapping[str, Any] | RowError]  # the number as a person counts rows, and the cells or what is wrong


@dataclass(slots=True)
class Reading:
    """What a file held: rows, what was passed over, and what a person should know of it.

    Attributes
    ----------
    rows
        Rows that were read; ``blank`` ones aren't among them.
    columns
        The names in the header, of files that have one.
    notes
        Sentences, such as which columns no program looked at.
    """

    rows: int = 0
    blank: int = 0
    columns: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def said(self) -> list[str]:
        """Return everything that a person should know, as sentences."""
        passed = [f"empty rows passed over: {self.blank:,}"] if self.blank else []
        return passed + self.notes
