"""A check of import rows that share ids: one id must always have the same text."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from annotation.items.services.scratch import scratch_table
from annotation.models import Campaign, Item, ItemState
from annotation.tasktypes.base import Shared, TaskType
from storage.tables.faults import RowError

CHUNK = 2_000
_HERE = 0  # the "row" of what the campaign had before
_AT_ONCE = 10_000  # ids that are looked up by one statement


class MarkedText(NamedTuple):
    """An id and its text in a row, as hashes, with the column and the name of the id."""

    mark: bytes
    text: bytes
    column: str
    name: str


class SharedTexts:
    """The text of each id in the campaign's items and in the rows read so far, kept in a `scratch_table`."""

    def __init__(self, campaign: Campaign, task_type: TaskType) -> None:
        self._task_type = task_type if isinstance(task_type, Shared) else None
        self._known: dict[
            bytes, tuple[bytes, int]
        ] = {}  # of the chunk at hand: what was there before, then what is new
        self._new: list[tuple[bytes, bytes, int]] = []
        if self._task_type is None:
            return
        self._table = scratch_table("texts (id BLOB PRIMARY KEY, text BLOB, row INTEGER)")
        items = Item.objects.filter(campaign=campaign, state=ItemState.ACTIVE)  # what was retired is in no release
        for content in items.values_list("content", flat=True).iterator(chunk_size=CHUNK):
            self._new += [(one.mark, one.text, _HERE) for one in self.marked(content)]
            if len(self._new) > _AT_ONCE:
                self.keep()
        self.keep()

    def marked(self, content: Mapping[str, Any]) -> list[MarkedText]:
        """Return the ids of a row's item with their texts."""
        if self._task_type is None:
            return []
        return [
            MarkedText(_digest(kind, name), _digest(text), column, name)
            for column, kind, name, text in self._task_type.shared_texts(content)
        ]

    def look_at(self, chunk: Iterable[MarkedText]) -> None:
        """Look up the texts that the ids of a chunk of rows have so far."""
        marks, self._known = list({one.mark for one in chunk}), {}
        for start in range(0, len(marks), _AT_ONCE):
            some = marks[start : start + _AT_ONCE]
            found = self._table.execute(
                f"SELECT id, text, row FROM texts WHERE id IN ({', '.join('?' * len(some))})",  # noqa: S608  placeholders
                some,
            )
            self._known |= {mark: (text, row) for mark, text, row in found}

    def add(self, row: int, marked: Iterable[MarkedText]) -> RowError | None:
        """Record the texts of a row of the chunk; return an error if one differs from an earlier text of the same id."""
        new: dict[bytes, tuple[bytes, int]] = {}
        for mark, text, column, name in marked:
            found = self._known.get(mark)
            if found is None:
                new.setdefault(mark, (text, row))
            elif found[0] != text:
                where = f"in row {found[1]}" if found[1] != _HERE else "in this campaign"
                return RowError(f"{name} has another text {where}: each id stands for one text in the campaign", column)
        self._known |= new
        self._new += [(mark, text, row) for mark, (text, row) in new.items()]
        return None

    def keep(self) -> None:
        """Write the chunk's new texts into the table."""
        if self._new:
            self._table.executemany("INSERT OR IGNORE INTO texts VALUES (?, ?, ?)", self._new)
        self._new = []


def _digest(*texts: str) -> bytes:
    return hashlib.blake2b("\0".join(texts).encode(), digest_size=16).digest()
