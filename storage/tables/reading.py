"""What is said of a file after it was read."""

from dataclasses import dataclass, field


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
