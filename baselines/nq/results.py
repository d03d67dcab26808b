"""The table of results on Natural Questions: untrained baselines, trained ones, annotators."""

import json
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from baselines.tables import Figure, Results, Row
from baselines.untrained import COPYING
from evaluation.baselines.nq import Baseline, first_paragraph, pages_of, predictions_of, read_examples
from evaluation.files import EvaluationError
from evaluation.nq.answers import Gold
from evaluation.nq.gold import GoldFault, read_gold
from evaluation.nq.humans import REFERENCES
from evaluation.nq.predictions import PredictionFault, read_predictions
from evaluation.nq.report import nq_report
from evaluation.nq.scores import ExamplesDiffer

MEASURES = ("precision", "recall", "f1")
METRICS = tuple(f"{kind} {measure.replace('f1', 'F1')}" for kind in ("long", "short") for measure in MEASURES)
SHOWN = ("long F1", "short F1")
NAMES = {
    "first-paragraph": "First paragraph",
    "most-frequent": "Most frequent",
    "closest-question": "Closest question",
    "bert-joint": "BERT joint",
    "decatt-docreader": "DecAtt + DocReader",
    "documentqa": "DocumentQA",
    "single": "Single annotator",
    "super": "Super-annotator",
}
# On the published development set: BERT joint's paper, Table 1.
_PUBLISHED = {
    "first-paragraph": (None, None, 27.8, None, None, None),
    "most-frequent": (None, None, 27.3, None, None, None),
    "closest-question": (None, None, 32.4, None, None, None),
    "documentqa": (47.5, 44.7, 46.1, 38.6, 33.2, 35.7),
    "decatt-docreader": (52.7, 57.0, 54.8, 34.3, 28.9, 31.4),
    "bert-joint": (61.3, 68.4, 64.7, 59.5, 47.3, 52.7),
    "single": (80.4, 67.6, 73.4, 63.4, 52.6, 57.5),
    "super": (90.0, 84.6, 87.2, 79.1, 72.6, 75.7),
}


def untrained_write(files: Sequence[Path], train: Sequence[Path], folder: Path) -> dict[str, Path]:
    """Write the predictions of the untrained baselines, and return their files; two of them need training files.

    Raises
    ------
    EvaluationError
        A file can't be read.
    """
    found: dict[str, Baseline] = {"first-paragraph": first_paragraph}
    if train:
        pages = pages_of(read_examples(train))
        found |= {name: made(pages) for name, made in COPYING.items()}
    written = {}
    for name, baseline in found.items():
        written[name] = folder / f"{name}.json"
        written[name].write_text(json.dumps(predictions_of(read_examples(files), baseline)), encoding="utf-8")
    return written


def results_of(files: Sequence[Path], systems: Mapping[str, tuple[str, Path]], *, resamples: int) -> Results:
    """Return the table of systems.

    Parameters
    ----------
    systems
        The key of the paper's published figures (if any), and the predictions, by the name that is shown.

    Raises
    ------
    EvaluationError
        A file can't be read, or doesn't have predictions for these examples.
    """
    try:
        gold = read_gold(files)
        ways = {len(rows) for rows in gold.values()}
        has_people = len(ways) == 1 and min(ways) > REFERENCES
        beta = 1 if ways == {1} else 2
        rows: list[Row] = []
        people: dict[str, Any] = {}
        for name, (key, path) in systems.items():
            asks_people = has_people and not people
            found, _ = nq_report(
                gold,
                read_predictions(path),
                long_beta=beta,
                short_beta=beta,
                resamples=resamples,
                references=REFERENCES if asks_people else 0,
            )
            people = found.get("people", people)
            rows.append(Row(name, _figures(found), published(key)))
    except (GoldFault, PredictionFault, ExamplesDiffer) as error:
        raise EvaluationError(str(error)) from error
    rows += [Row(NAMES[who], _of_people(people, who), published(who)) for who in ("single", "super") if people]
    return Results(_caption(gold, people), METRICS, SHOWN, "paper", rows)


def published(key: str) -> dict[str, float]:
    """Return the figures that the papers report for a system, as shares."""
    values = _PUBLISHED.get(key, ())
    return {name: round(value / 100, 3) for name, value in zip(METRICS, values, strict=False) if value is not None}


def _caption(gold: Mapping[int, Sequence[Gold]], people: Mapping[str, Any]) -> str:
    text = f"F1 on {len(gold):,} examples at the best threshold, by the official evaluation, with 95% intervals"
    if people:
        text += f"; annotators against {people['references']} of {people['annotations']} annotations"
    return f"{text}. Figures of the paper are on its own data (Alberti, Lee and Collins 2019, Table 1)."


def _figures(report: Mapping[str, Any]) -> dict[str, Figure]:
    return {
        name: Figure(report["metrics"][f"{kind}-best-threshold-{measure}"], *report["intervals"][kind].get(measure, ()))
        for name, (kind, measure) in zip(METRICS, product(("long", "short"), MEASURES), strict=True)
    }


def _of_people(people: Mapping[str, Any], who: str) -> dict[str, Figure]:
    found = {}
    for name, (kind, measure) in zip(METRICS, product(("long", "short"), MEASURES), strict=True):
        share = people[kind][who][measure]
        found[name] = Figure(share["share"], share["low"], share["high"])
    return found
