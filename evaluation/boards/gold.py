"""The labels of a board, frozen in its release: held only in memory and sent to the scoring process."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import orjson
from django.db.models import TextField
from django.db.models.functions import Cast

from annotation.tasktypes.base import Voted
from annotation.tasktypes.registry import TASK_TYPES
from documents.selectors import tokenization_load
from evaluation.boards.metrics import METRICS
from evaluation.models import Board
from evaluation.nq.answers import OFFSETS, span_at
from exports.families import FAMILIES
from exports.families.antique import judgments_released
from exports.families.nlpcc import numbered
from exports.formats.nq import annotation_record
from exports.formats.tells import Tells
from exports.models import Release
from exports.selectors.judged import judged_pairs
from exports.selectors.written import written_questions


def metrics_of(release: Release) -> list[str]:
    """Return the metrics that a release's format supports."""
    told = FAMILIES[release.family].tells
    return [name for name, metric in METRICS.items() if metric.over in told]


def gold_of(board: Board) -> dict[str, Any]:
    """Return the data that a board's metric scores against, in a form for JSON."""
    return _GOLD[METRICS[board.metric].over](board)


def _annotations(board: Board) -> dict[str, list[Any]]:
    rows = board.release.members.filter(item__split__name=board.split).select_related(
        "annotation", "item__tokenization"
    )
    found: dict[str, list[Any]] = defaultdict(list)
    for row in rows.order_by("item_id", "rank").iterator(chunk_size=500):
        tokens = row.item.tokenization
        assert tokens is not None
        record = annotation_record(0, row.annotation.answer, tokenization_load(tokens.sha256))
        shorts = [_span(one) for one in record["short_answers"]]
        found[row.item.published_id].append((_span(record["long_answer"]), shorts, record["yes_no_answer"].lower()))
    return dict(found)


def _span(offsets: dict[str, int]) -> tuple[int, int, int, int] | None:
    return span_at(tuple(offsets[name] for name in OFFSETS), "")


def _labels(board: Board) -> dict[str, Any]:
    task_type = TASK_TYPES[board.campaign.task_type]
    assert isinstance(task_type, Voted)
    rows = board.release.verdicts.filter(item__split__name=board.split).annotate(
        text=Cast("verdict__label", TextField())
    )
    labels = {
        item: str(orjson.loads(text))
        for item, text in rows.order_by("item_id").values_list("item__published_id", "text").iterator(5000)
    }
    return {"labels": labels, "allowed": [str(label) for label in task_type.labels]}


def _answers(board: Board) -> dict[str, str]:
    """Return the answer of each written question by its number in the file; generated ones count for nothing."""
    questions = written_questions(board.release, board.split)
    rows = numbered(board.release, board.split, questions)
    return {str(number): one.answer for number, one in rows if not isinstance(one, str)}


def _pairs(board: Board) -> list[list[bool]]:
    """Return for each question, in the order of the file, which of its sentences answers it."""
    questions = written_questions(board.release, board.split)
    return [[place == one.sentence for place in range(len(one.content["sentences"]))] for one in questions]


def _qrels(board: Board) -> dict[str, dict[str, int]]:
    """Return the labels in the released file of judgments, including those of the askers' chosen answers."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for one in judgments_released([pair for pair in judged_pairs(board.release) if pair.split == board.split]):
        found[one.question_id][one.answer_id] = one.label
    return dict(found)


# By what a metric is over (`exports.formats.tells.Tells`).
_GOLD: dict[Tells, Callable[[Board], dict[str, Any]]] = {
    Tells.ANNOTATIONS: lambda board: {"annotations": _annotations(board), "beta": min(2, board.release.ways)},
    Tells.LABELS: _labels,
    Tells.QRELS: lambda board: {"qrels": _qrels(board)},
    Tells.ANSWERS: lambda board: {"answers": _answers(board)},
    Tells.SENTENCES: lambda board: {"pairs": _pairs(board)},
}
