"""The columns of a table that a program uses."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from storage.tables.faults import RowError
from storage.tables.reading import Row

SHOWN = 20  # names
WATCHED = 1_000  # rows: what none of them was asked for, the others aren't


class ColumnsUsed:
    """The columns that a program read in the first rows."""

    def __init__(self) -> None:
        self._asked: set[str] = set()

    def watched(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield all rows; the first ones record which columns are read."""
        for count, (number, row) in enumerate(rows):
            is_watched = count < WATCHED and not isinstance(row, RowError)
            yield number, _Asked(row, self._asked) if is_watched else row

    def unused(self, columns: Sequence[str]) -> list[str]:
        """Return a sentence that names the columns that the program didn't read; an empty list if it read all."""
        names = [name for name in columns if name not in self._asked]
        more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
        return (
            [f"not used: {'column' if len(names) == 1 else 'columns'} {', '.join(names[:SHOWN])}{more}"]
            if names
            else []
        )


class _Asked(dict[str, Any]):
    def __init__(self, row: Any, asked: set[str]) -> None:
        super().__init__(row)
        self._asked = asked

    def __getitem__(self, name: str) -> Any:
        self._asked.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self._asked.add(name)
        return super().get(name, default)

    def __contains__(self, name: object) -> bool:
        self._asked.add(str(name))
        return super().__contains__(name)
