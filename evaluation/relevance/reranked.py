"""The ranking of systems under the labels of a release, compared with the ranking under another policy's labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from evaluation.files import EvaluationError
from evaluation.relevance.files import Qrels, Run, read_run
from evaluation.relevance.report import MEASURES, Convention, values_of
from exports.released.folder import ReleasedFolder

IDS = ("item_id", "question_id", "answer_id")


@dataclass(frozen=True, slots=True)
class Reranked:
    """One run: its mean score and rank (from 1) before and after; runs with equal means share the better rank."""

    run: str
    before: float
    after: float
    rank_before: int
    rank_after: int


def reranked(
    folder: ReleasedFolder, before: Mapping[str, Any], after: Mapping[str, Any], runs: Sequence[Path], measure: str
) -> list[Reranked]:
    """Return each run's score and rank by the labels before and after, in the order of the files.

    Parameters
    ----------
    before, after
        The label of each item. None means no label: the pair is left out as if it hadn't been judged.

    Raises
    ------
    EvaluationError
        The items of the release aren't pairs of a question and an answer, or a run cannot be read.
    """
    if measure not in MEASURES:
        raise EvaluationError(f"no measure is called {measure}: there are {', '.join(MEASURES)}")
    if not set(IDS) <= set(folder.kinds("items")):
        raise EvaluationError(f"{folder.path}: its items are no pairs of a question and an answer")
    pairs = {row["item_id"]: (row["question_id"], row["answer_id"]) for row in folder.rows("items", IDS)}
    both = [_qrels(pairs, labels) for labels in (before, after)]
    labelled: Qrels = {question: {} for qrels in both for question in qrels}
    scores = list(zip(*(_scores(both, read_run(path, labelled), measure) for path in runs), strict=True))
    places = [[1 + sum(other > one for other in found) for one in found] for found in scores]
    return [
        Reranked(path.name, *means, *ranks)
        for path, means, ranks in zip(runs, zip(*scores, strict=True), zip(*places, strict=True), strict=True)
    ]


def _qrels(pairs: Mapping[str, tuple[str, str]], labels: Mapping[str, Any]) -> Qrels:
    found: Qrels = {}
    for item, label in labels.items():
        if item in pairs and isinstance(label, int):
            question, answer = pairs[item]
            found.setdefault(question, {})[answer] = label
    if not found:
        raise EvaluationError("no pair has a label")
    return found


def _scores(both: Sequence[Qrels], run: Run, measure: str) -> list[float]:
    found = (values_of(qrels, run, Convention(resamples=0))[measure] for qrels in both)
    return [fmean(values) for values in found]
