"""Every annotation of a release's items, in any state."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import orjson

from annotation.models import PUBLISHED
from annotation.tasktypes.base import Answer
from annotation.tasktypes.columns import Column, Kind
from annotation.tasktypes.registry import TASK_TYPES
from exports.formats.tables import Row, Table, chunks
from exports.models import Release
from exports.selectors.members import Pseudonyms
from exports.selectors.votes import Answers, FrozenVote, frozen_votes
from exports.tables.items import CHUNK, ITEM

_BEFORE = (
    ITEM,
    Column("annotation_id", Kind.TEXT, "Of the annotation, as in the files of the format. Text: it may exceed 2^53."),
    Column(
        "annotator",
        Kind.TEXT,
        "A pseudonym; one that begins with rare- is of this judgment alone, since its author has few in this release. Null where a published file brought the annotation.",
    ),
    Column("round", Kind.INTEGER, "1, or 2 for votes that were asked for again. Null: it came late or was not needed."),
    Column(
        "rank",
        Kind.INTEGER,
        "Its place in the round, from 0, for ever. After an exclusion, another has the same place.",
    ),
    Column(
        "state",
        Kind.TEXT,
        "counted, excluded, late (after its deadline) or surplus (not needed any more). Only counted ones make labels.",
    ),
    Column(
        "because",
        Kind.TEXT,
        "Why it was excluded: suspended (its author was), inspection, manager, …; empty if it was not.",
    ),
    Column("is_used", Kind.BOOLEAN, "Whether a record or a label of this release rests on it."),
)
_AFTER = (
    Column("via", Kind.TEXT, "By which way its author came: internal, link, mturk; published: from a published file."),
    Column("submitted_on", Kind.TEXT, "The day, UTC."),
    Column("seconds", Kind.NUMBER, "From the claim to the submission, by the server's clock."),
    Column("active_seconds", Kind.NUMBER, "Of these, with the page in view, as the browser told. Null if it did not."),
    Column("stage_seconds", Kind.JSON, "Of these, by stage, where the task has several: {stage: seconds}."),
    Column("guideline_version", Kind.INTEGER, "The guidelines that it was made by."),
)


def judgments_table(release: Release, order: list[int], pseudonyms: Pseudonyms) -> Table:
    """Return the table of judgments, grouped by item, in the order of the items."""
    task_type = TASK_TYPES[release.campaign.task_type]
    filled = task_type.answer_columns

    def said(answer: Answer) -> Row:
        return tuple(column.of(answer) for column in filled)

    told = tuple(column.is_told for column in filled)

    def rows() -> Iterator[Row]:
        answers = Answers(said)
        for chunk in chunks(order, CHUNK):
            by_item: dict[int, list[FrozenVote]] = defaultdict(list)
            for vote in frozen_votes(release, chunk[0], chunk[-1]):
                by_item[vote.item_id].append(vote)
            for pk in chunk:
                for vote in by_item[pk]:
                    values = answers.of(vote.answer)
                    if vote.via == PUBLISHED:
                        values = tuple(value if known else None for value, known in zip(values, told, strict=True))
                    yield _row(vote, values, pseudonyms)

    meaning = "One row an annotation of an item, whatever became of it. Consent withdrawn and visits never confirmed are not in it."
    return Table("judgments", meaning, (*_BEFORE, *(one.column for one in filled), *_AFTER), rows)


def _row(vote: FrozenVote, said: tuple[Any, ...], pseudonyms: Pseudonyms) -> Row:
    known = vote.via != PUBLISHED
    return (
        vote.item,
        vote.published_id,
        pseudonyms.of_judgment(vote.who, vote.published_id) if known else None,
        vote.round,
        vote.rank,
        vote.state,
        vote.because,
        vote.is_used,
        *said,
        vote.via,
        vote.submitted_at[:10] if known else None,
        vote.seconds if known else None,
        vote.active_seconds,
        _one_form(vote.stages),
        vote.guideline,
    )


def _one_form(stages: str) -> str | None:
    """Return JSON in one canonical form, since databases differ in spacing and key order."""
    found = orjson.loads(stages)
    return orjson.dumps(found, option=orjson.OPT_SORT_KEYS).decode() if found else None
