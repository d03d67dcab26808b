"""The release formats: one module for each family of formats, and a dict of all formats."""

from pathlib import Path
from typing import Any, Protocol

from annotation.models import Campaign, Split
from annotation.tasktypes.base import Voted
from annotation.tasktypes.registry import TASK_TYPES
from exports.families.antique import AntiqueFamily
from exports.families.labels import LabelsFamily
from exports.families.nlpcc import DocumentFamily, KnowledgeFamily
from exports.families.nq import NaturalQuestionsFamily
from exports.formats.nq import RECORDS
from exports.formats.tells import Tells
from exports.models import Release
from exports.targets import Progress, Target


class Family(Protocol):
    """The interface of a release format: how its content is frozen and written."""

    key: str
    task_type: str | None  # None: of every task type with a vote
    takes_ways: bool
    has_labels_alone: bool  # whether it can leave out the texts that were labeled
    tells: tuple[Tells, ...]  # what systems can be scored against
    is_shuffled: bool  # whether the seed of a release decides the order of its items
    takes_generated: bool  # whether generated questions can be mixed into its sealed splits

    def ways(self, campaign: Campaign, asked: int | None) -> int:
        """Return the number of annotations per item in a release, or raise `ValueError`."""
        ...

    def freeze(self, release: Release, splits: list[Split]) -> None:
        """Save the content of a release, inside the caller's transaction."""
        ...

    def write(
        self, release: Release, folder: Path, target: Target, progress: Progress, files: dict[str, Any]
    ) -> dict[str, int]:
        """Write the files, add them to ``files``, and return the items of each split."""
        ...

    def tables(self, release: Release) -> dict[str, Any]:
        """Return the manifest's entries, by key, for the tables among the format's own files."""
        ...


FAMILIES: dict[str, Family] = {
    **{key: NaturalQuestionsFamily(key) for key in RECORDS},
    "antique": AntiqueFamily(),
    "dbqa": DocumentFamily(),
    "kbqa": KnowledgeFamily(),
    "labels": LabelsFamily(),
}


def families_of(task_type: str) -> dict[str, Family]:
    """Return the formats in which campaigns of a task type can be released."""
    has_vote = isinstance(TASK_TYPES[task_type], Voted)
    return {
        key: family
        for key, family in FAMILIES.items()
        if family.task_type == task_type or (family.task_type is None and has_vote)
    }
