"""What is different between two releases, item by item."""

from dataclasses import dataclass
from typing import Any

from exports.released.folder import ReleasedFolder

LABELS = "labels"


@dataclass(frozen=True)
class Difference:
    """Items by id: in the second release alone, in the first alone, and in both with another label or other annotations."""

    added: list[str]
    removed: list[str]
    changed: list[tuple[str, Any, Any]]


def difference(before: ReleasedFolder, after: ReleasedFolder) -> Difference:
    """Return what changed between two releases: labels where both have them, else the annotations of records.

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
