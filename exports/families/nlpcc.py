"""Releases of written questions in the files of NLPCC's shared tasks."""

import secrets
from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

from annotation.models import ORDINARY, Campaign, Item, ItemState, Split
from annotation.tasktypes.columns import Column, Kind
from annotation.tasktypes.kbqa.items import BETWEEN
from exports.errors import ReleaseError
from exports.formats.mixing import mixed
from exports.formats.nlpcc import END, Block, pair_lines
from exports.formats.tables import Row, Table
from exports.formats.tells import Tells
from exports.models import Release, ReleaseMember, Shortfall
from exports.selectors.written import WrittenQuestion, accepted, written_questions
from exports.targets import Progress, Target, table_put
from exports.writers.text import write_text

_AT_ONCE = 2000
_COLUMNS = (
    Column("question_id", Kind.INTEGER, "Its number in the file of the format (DBQA: its place among the questions)."),
    Column("item_id", Kind.TEXT, "Of the item it was written for: see the table items."),
    Column(
        "annotation_id",
        Kind.TEXT,
        "Of the annotation that wrote it: see the table judgments. Reviews of it have review- and this as external_id of their item.",
    ),
    Column("question", Kind.TEXT, "The question, as its review left it."),
    Column("answer", Kind.TEXT, "What answers it."),
    Column("decision", Kind.TEXT, "Of its review: accept or edit. Null: it had none."),
    Column(
        "recovered", Kind.BOOLEAN, "Whether someone who answered it blind found that answer. Null: nobody was asked."
    ),
)


class _WrittenFamily:
    """The common part of both formats: the selection of questions, and their table."""

    key: str
    task_type: str | None
    takes_ways = False
    has_labels_alone = False  # the questions are what was written
    is_shuffled = True
    takes_generated = False
    tells: tuple[Tells, ...]

    def ways(self, campaign: Campaign, asked: int | None) -> int:
        """Return the number of questions written per item, which the campaign sets, not the release."""
        return max(campaign.splits.filter(weight__gt=0).values_list("n", flat=True), default=1)

    def freeze(self, release: Release, splits: list[Split]) -> None:
        """Save the released questions with their reviews and blind answers, and the items without a question."""
        rows, there = list[ReleaseMember](), set[int]()
        for one in accepted(release.campaign, splits):
            there.add(one.item_id)
            rows.append(
                ReleaseMember(release=release, item_id=one.item_id, annotation_id=one.annotation_id, rank=one.rank)
            )
            rows += [
                ReleaseMember(release=release, item_id=item, annotation_id=pk, rank=0) for pk, item in one.followed
            ]
        ReleaseMember.objects.bulk_create(rows, batch_size=_AT_ONCE)
        items = Item.objects.filter(split__in=splits, state=ItemState.ACTIVE, batch__purpose__in=ORDINARY)
        short = (pk for pk in items.order_by("pk").values_list("pk", flat=True) if pk not in there)
        Shortfall.objects.bulk_create(
            [Shortfall(release=release, item_id=pk, counted=0) for pk in short], batch_size=_AT_ONCE
        )

    def tables(self, release: Release) -> dict[str, Any]:
        """Return the tables of questions, one for each split that is not sealed."""
        return {table.key: table.described() for table in (_table(split, []) for split in _told(release))}

    def write(
        self, release: Release, folder: Path, target: Target, progress: Progress, files: dict[str, Any]
    ) -> dict[str, int]:
        """Write the questions of every split, and their table."""
        counts: dict[str, int] = {}
        for split in release.splits:
            questions = written_questions(release, split)
            counts[split] = len(questions)
            name, lines, end = self.file(release, split, questions)
            if name not in files:
                files[name] = asdict(write_text(folder / "part", lines, end=end))
                target.put(name, folder / "part")
            if split in _told(release):
                table_put(_table(split, questions), folder, target, files)
            progress(sum(counts.values()), sum(counts.values()), name, files)
        return counts

    def file(self, release: Release, split: str, questions: list[WrittenQuestion]) -> tuple[str, Iterator[str], str]:
        """Return name, lines and line ends of a split's file; the file of a sealed split has no answers."""
        raise NotImplementedError


class KnowledgeFamily(_WrittenFamily):
    """KBQA: blocks of question, triple and answer."""

    key = "kbqa"
    task_type: str | None = "kbqa"
    takes_generated = True
    tells: tuple[Tells, ...] = (Tells.ANSWERS,)

    def freeze(self, release: Release, splits: list[Split]) -> None:
        """Freeze as `_WrittenFamily` does, and save the order of written and generated questions in sealed splits."""
        super().freeze(release, splits)
        generated = release.frozen.pop("generated", [])
        if generated and not release.sealed:
            raise ReleaseError("generated_not_sealed")
        orders: dict[str, list[dict[str, str]]] = {}
        for split in release.sealed:
            order = _order(release, split, generated)
            if order is not None:
                orders[split] = order
                taken = {one["text"] for one in order if "text" in one}
                generated = [text for text in generated if text not in taken]
        if orders:
            release.frozen["mixed"] = orders

    def file(self, release: Release, split: str, questions: list[WrittenQuestion]) -> tuple[str, Iterator[str], str]:
        """Return the blocks of a split."""
        is_sealed = split in release.sealed
        blocks = (
            Block(number, one) if isinstance(one, str) else _block(number, one, is_told=not is_sealed)
            for number, one in numbered(release, split, questions)
        )
        return f"kbqa-{split}.txt", chain.from_iterable(block.lines() for block in blocks), END


class DocumentFamily(_WrittenFamily):
    """DBQA: pairs of question and sentence."""

    key = "dbqa"
    task_type: str | None = "dbqa"
    tells: tuple[Tells, ...] = (Tells.SENTENCES,)

    def file(self, release: Release, split: str, questions: list[WrittenQuestion]) -> tuple[str, Iterator[str], str]:
        """Return the pairs of a split."""
        is_sealed = split in release.sealed
        pairs = (
            pair_lines(one.question, one.content["sentences"], None if is_sealed else one.sentence) for one in questions
        )
        return f"dbqa-{split}.tsv", chain.from_iterable(pairs), "\n"


def _order(release: Release, split: str, generated: list[str]) -> list[dict[str, str]] | None:
    """Return the written question (by annotation) or generated text at each position; None without generated ones.

    A split is mixed only once: comparing two different mixes would reveal the written questions.

    Raises
    ------
    ValueError
        Their lengths would reveal the generated questions, or the split was released without them before.
    """
    earlier = Release.objects.filter(campaign=release.campaign, number__lt=release.number).order_by("number")
    before = [one for one in earlier if split in one.sealed]
    questions = written_questions(release, split)
    for one in before:
        if split in one.frozen.get("mixed", {}):
            here = {question.annotation for question in questions}
            return [place for place in one.frozen["mixed"][split] if "text" in place or place["annotation"] in here]
    if not generated:
        return None
    if before:
        raise ReleaseError("generated_before", split=str(split))
    # A seed that nothing keeps: with the release's own, which the manifest tells, anyone could make the order again.
    order = mixed([one.question for one in questions], generated, seed=secrets.randbits(63))
    rest = iter(questions)
    return [{"annotation": next(rest).annotation} if text is None else {"text": text} for text in order]


def numbered(
    release: Release, split: str, questions: list[WrittenQuestion]
) -> Iterator[tuple[int, WrittenQuestion | str]]:
    """Yield the questions of a split with their numbers in the file, including generated ones as texts."""
    order = release.frozen.get("mixed", {}).get(split)
    if order is None:
        yield from enumerate(questions, 1)
        return
    by_annotation = {one.annotation: one for one in questions}
    for number, place in enumerate(order, 1):
        yield number, place["text"] if "text" in place else by_annotation[place["annotation"]]


def _block(number: int, one: WrittenQuestion, *, is_told: bool) -> Block:
    if not is_told:
        return Block(number, one.question)
    triple = f" {BETWEEN} ".join(one.content[name] for name in ("subject", "predicate", "object"))
    return Block(number, one.question, triple, one.answer)


def _told(release: Release) -> list[str]:
    return [split for split in release.splits if split not in release.sealed]


def _table(split: str, questions: list[WrittenQuestion]) -> Table:
    def rows() -> Iterator[Row]:
        for number, one in enumerate(questions, 1):
            yield number, one.item, one.annotation, one.question, one.answer, one.decision, one.recovered

    meaning = "One row a question, in the order of the file: how it passed its review, and whether it can be answered."
    return Table(f"questions-{split}", meaning, _COLUMNS, rows, group="questions")
