"""A table: typed columns with descriptions, and rows generated one by one."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from annotation.tasktypes.columns import Column

Row = tuple[Any, ...]
Thing = TypeVar("Thing")
FOLDER = "tables"


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a release. Each call of ``rows`` starts at the first row; a row has one value per column, in order."""

    key: str
    meaning: str
    columns: tuple[Column, ...]
    rows: Callable[[], Iterator[Row]]
    group: str = ""  # of which it is a part, where a table is written in several

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(column.name for column in self.columns)

    @property
    def parquet(self) -> str:
        """The name of its Parquet file in a release."""
        return f"{FOLDER}/{self.key}.parquet"

    @property
    def lines(self) -> str:
        """The name of its JSON lines in a release."""
        return f"{FOLDER}/{self.key}.jsonl.gz"

    @property
    def files(self) -> tuple[str, str]:
        """The names of its files in a release: lines and Parquet."""
        return self.lines, self.parquet

    def described(self) -> dict[str, Any]:
        """Return the table's description for the manifest."""
        columns = [{"name": one.name, "type": one.kind.value, "meaning": one.meaning} for one in self.columns]
        return {"meaning": self.meaning, "group": self.group or self.key, "columns": columns}


def chunks(things: Iterable[Thing], size: int) -> Iterator[list[Thing]]:
    """Yield lists of a fixed size; the last may be shorter."""
    rest = iter(things)
    while chunk := list(islice(rest, size)):
        yield chunk
