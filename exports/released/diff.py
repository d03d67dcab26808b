"""The differences between two releases, item by item."""

from dataclasses import dataclass
from typing import Any

from exports.released.folder import ReleasedFolder

LABELS = "labels"


@dataclass(frozen=True)
class Difference:
    """Item ids: only in the second release, only in the first, and in both but with another label or annotations."""

    added: list[str]
    removed: list[str]
    changed: list[tuple[str, Any, Any]]


def difference(before: ReleasedFolder, after: ReleasedFolder) -> Difference:
    """Return the changes between two releases: of labels if both have them, otherwise of the records' annotations.

    Raises
    ------
    FolderError
        One of them has no tables.
    """
    by_label = LABELS in before.tables and LABELS in after.tables
    first, second = (_labels(one) if by_label else _annotations(one) for one in (before, after))
    changed = [(item, first[item], second[item]) for item in second if item in first and first[item] != second[item]]
    return Difference(
        [item for item in second if item not in first], [item for item in first if item not in second], changed
    )


def _labels(folder: ReleasedFolder) -> dict[str, Any]:
    return {row["item_id"]: row["label"] for row in folder.rows(LABELS, ("item_id", "label"))}


def _annotations(folder: ReleasedFolder) -> dict[str, Any]:
    found: dict[str, list[str]] = {
        row["item_id"]: [] for row in folder.rows("items", ("item_id", "is_released")) if row["is_released"]
    }
    for row in folder.rows("judgments", ("item_id", "annotation_id", "is_used")):
        if row["is_used"] and row["item_id"] in found:
            found[row["item_id"]].append(row["annotation_id"])
    return found
