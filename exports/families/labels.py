"""Releases of any campaign whose items get labels by vote: one JSON line per item."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from annotation.models import Campaign, Split
from exports.families.verdicts import verdicts_freeze, votes_of_a_round
from exports.formats.tells import Tells
from exports.models import Release
from exports.selectors.labels import labelled_items
from exports.targets import Progress, Target
from exports.writers.lines import write_lines


class LabelsFamily:
    """Items with their labels, in JSON lines."""

    key = "labels"
    task_type: str | None = None  # of every type with a vote
    takes_ways = False
    has_labels_alone = True
    is_shuffled = True
    takes_generated = False
    tells: tuple[Tells, ...] = (Tells.LABELS,)

    def ways(self, campaign: Campaign, asked: int | None) -> int:
        """Return the number of votes per round, which the campaign sets, not the release."""
        return votes_of_a_round(campaign)

    def tables(self, release: Release) -> dict[str, Any]:
        """Return an empty dict: the format's own files aren't tables."""
        return {}

    def freeze(self, release: Release, splits: list[Split]) -> None:
        """Save the verdicts in force and the items without a verdict."""
        verdicts_freeze(release, splits)

    def write(
        self, release: Release, folder: Path, target: Target, progress: Progress, files: dict[str, Any]
    ) -> dict[str, int]:
        """Write the labels of every split."""
        counts = dict[str, int]()

        def put(name: str, rows: Iterator[dict[str, Any]]) -> None:
            if name not in files:
                files[name] = asdict(write_lines(folder / "part", rows))
                target.put(name, folder / "part")

        for split in release.splits:
            counts[split] = release.verdicts.filter(item__split__name=split).count()
            if split not in release.sealed:
                put(f"{split}-labels.jsonl.gz", labelled_items(release, split))
            progress(sum(counts.values()), sum(counts.values()), f"{split}-labels.jsonl.gz", files)
        return counts
