"""A check of import rows that share ids: one id must always have the same text."""

import hashlib
from collections.abc import Mapping
from typing import Any

from annotation.items.services.scratch import scratch_table
from annotation.models import Campaign, Item, ItemState
from annotation.tasktypes.base import Shared, TaskType
from storage.tables.faults import RowError

CHUNK = 2_000
_HERE = 0  # the "row" of what the campaign had before


class SharedTexts:
    """The text of each id in the campaign's items and in the rows read so far, kept in a `scratch_table`."""

    def __init__(self, campaign: Campaign, task_type: TaskType) -> None:
        self._task_type = task_type if isinstance(task_type, Shared) else None
        if self._task_type is None:
            return
        self._table = scratch_table("texts (id BLOB PRIMARY KEY, text BLOB, row INTEGER)")
        items = Item.objects.filter(campaign=campaign, state=ItemState.ACTIVE)  # what was retired is in no release
        for content in items.values_list("content", flat=True).iterator(chunk_size=CHUNK):
            self.add(_HERE, content)

    def add(self, row: int, content: Mapping[str, Any]) -> RowError | None:
        """Record a row's texts; return an error if one differs from an earlier text with the same id."""
        if self._task_type is None:
            return None
        marked = [
            (_digest(kind, name), _digest(text), row, column, name)
            for column, kind, name, text in self._task_type.shared_texts(content)
        ]
        for mark, text, _, column, name in marked:
            found = self._table.execute("SELECT text, row FROM texts WHERE id = ?", (mark,)).fetchone()
            if found is not None and found[0] != text:
                where = f"in row {found[1]}" if found[1] != _HERE else "in this campaign"
                return RowError(f"{name} has another text {where}: each id stands for one text in the campaign", column)
        self._table.executemany("INSERT OR IGNORE INTO texts VALUES (?, ?, ?)", [one[:3] for one in marked])
        return None


def _digest(*texts: str) -> bytes:
    return hashlib.blake2b("\0".join(texts).encode(), digest_size=16).digest()
