"""Releases of ANTIQUE campaigns: verdicts as relevance judgments, in the published files."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from annotation.models import Campaign, Split
from exports.errors import ReleaseError
from exports.families.verdicts import verdicts_freeze, votes_of_a_round
from exports.formats.antique import ASKER, ASKER_LABEL, CROWD, EXPERT, Judgment, answer_order, text_line
from exports.formats.tells import Tells
from exports.models import Release
from exports.selectors.judged import JudgedPair, judged_pairs
from exports.targets import Progress, Target
from exports.writers.text import write_text
from quality.models import Flag


class AntiqueFamily:
    """Collection, queries, qrels and blacklist; a release of labels alone has only the last two."""

    key = "antique"
    task_type: str | None = "antique"
    takes_ways = False
    has_labels_alone = True
    is_shuffled = False
    takes_generated = False
    tells: tuple[Tells, ...] = (Tells.LABELS, Tells.QRELS)

    def ways(self, campaign: Campaign, asked: int | None) -> int:
        """Return the number of votes per round, which the campaign sets, not the release."""
        return votes_of_a_round(campaign)

    def tables(self, release: Release) -> dict[str, Any]:
        """Return an empty dict: the format's own files aren't tables."""
        return {}

    def freeze(self, release: Release, splits: list[Split]) -> None:
        """Save the verdicts in force, the pairs without a verdict, and the blacklist."""
        verdicts_freeze(release, splits)
        listed = Flag.objects.filter(campaign=release.campaign, is_listed=True).order_by("question_id")
        release.frozen |= {"blacklist": list(listed.values_list("question_id", flat=True))}

    def write(
        self, release: Release, folder: Path, target: Target, progress: Progress, files: dict[str, Any]
    ) -> dict[str, int]:
        """Write the files of each split, then the collection that the splits share."""
        pairs = judged_pairs(release)
        by_split = {split: [pair for pair in pairs if pair.split == split] for split in release.splits}
        total, done = len(pairs), 0

        def put(name: str, lines: Iterator[str]) -> None:
            if name not in files:
                files[name] = asdict(write_text(folder / "part", lines))
                target.put(name, folder / "part")

        for split, its in by_split.items():
            if not release.labels_only:
                put(f"antique-{split}-queries.txt", _queries(its))
            if split not in release.sealed:
                put(f"antique-{split}.qrel", (one.line() for one in judgments_released(its)))
            put(f"{split}-queries-blacklist.txt", _blacklist(its, release.frozen.get("blacklist", [])))
            done += len(its)
            progress(done, total, f"antique-{split}.qrel", files)
        if not release.labels_only:
            put("antique-collection.txt", _collection(pairs))
            progress(total, total, "antique-collection.txt", files)
        return {split: sum(pair.label is not None for pair in its) for split, its in by_split.items()}


def _queries(pairs: list[JudgedPair]) -> Iterator[str]:
    seen: set[str] = set()
    for pair in pairs:
        if pair.question_id not in seen:
            seen.add(pair.question_id)
            yield text_line(pair.question_id, pair.question_text)


def judgments_released(pairs: list[JudgedPair]) -> Iterator[Judgment]:
    """Yield judgments by question, then by answer, including the asker's own choice once."""
    rows: dict[tuple[str, str], Judgment] = {}
    for pair in pairs:
        if pair.best_id:
            own = Judgment(pair.question_id, ASKER, pair.best_id, ASKER_LABEL)
            rows.setdefault((pair.question_id, pair.best_id), own)
        if pair.label is not None:
            flag = EXPERT if pair.by_expert else CROWD
            rows[pair.question_id, pair.answer_id] = Judgment(pair.question_id, flag, pair.answer_id, pair.label)
    yield from (rows[key] for key in sorted(rows, key=lambda key: (key[0], answer_order(key[1]))))


def _blacklist(pairs: list[JudgedPair], listed: list[str]) -> Iterator[str]:
    yield from sorted({pair.question_id for pair in pairs} & set(listed))


def _collection(pairs: list[JudgedPair]) -> Iterator[str]:
    """Yield every answer once.

    Raises
    ------
    ValueError
        One id has two different texts.
    """
    texts: dict[str, str] = {}
    for pair in pairs:
        for key, text in ((pair.answer_id, pair.answer_text), (pair.best_id, pair.best_text)):
            if key and texts.setdefault(key, text) != text:
                raise ReleaseError("answer_two_texts", answer=str(key))
    for key in sorted(texts, key=answer_order):
        yield text_line(key, texts[key])
