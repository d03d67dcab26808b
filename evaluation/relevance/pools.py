"""Statistics on the labels of a pool: the relevant share, and the contribution of each run.

The ANTIQUE paper (section 3.1) judged BM25's 10 best answers to 100 questions, without the questions' own answers, to
estimate how incomplete the training labels are: 13.7% were relevant.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from evaluation.files import EvaluationError
from evaluation.relevance.files import MOST_LABELS, Qrels
from evaluation.statistics import ratio_interval
from storage.text_files import LineFault, naming, text_lines

LONGEST_PAIR = 2**20  # bytes of a line: three texts of 20,000 signs, as an import takes them, and where they come from


class Pair(NamedTuple):
    """A pair of a pool: the runs that retrieved it, and whether the answer is the question's own."""

    question: str
    answer: str
    runs: frozenset[str]
    is_own: bool


def read_pairs(path: Path) -> list[Pair]:
    """Return the pairs that `source pool` wrote.

    Raises
    ------
    EvaluationError
        A line isn't such a pair, or the file has no pairs.
    """
    found: dict[tuple[str, str], Pair] = {}
    for number, text in text_lines(path, most=MOST_LABELS, longest=LONGEST_PAIR):
        with naming(path, number):
            pair = _pair(text)
            if (pair.question, pair.answer) in found:
                raise LineFault(f"{pair.question} {pair.answer} stands in an earlier line")
        found[pair.question, pair.answer] = pair
    if not found:
        raise EvaluationError(f"{path}: holds no pair")
    return list(found.values())


def _pair(text: str) -> Pair:
    try:
        row = orjson.loads(text)
        origin = row["origin"]
        runs, question, answer, is_own = origin["runs"], row["question_id"], row["answer_id"], origin["is_own"]
    except (orjson.JSONDecodeError, KeyError, TypeError, IndexError):
        raise LineFault("expected an object as source pool writes it") from None
    if not isinstance(runs, dict) or not isinstance(question, str) or not isinstance(answer, str):
        raise LineFault("expected an object as source pool writes it")
    return Pair(question, answer, frozenset(runs), bool(is_own))


def pool_report(pairs: Iterable[Pair], qrels: Qrels, *, relevant: int, resamples: int, seed: int) -> dict[str, Any]:
    """Return the relevant share of the judged pairs and, for each run, its relevant share and unique relevant answers.

    The interval is over questions drawn with replacement, since the pairs of one question are correlated.
    """
    every = list(pairs)
    judged = [pair for pair in every if pair.answer in qrels.get(pair.question, {})]
    good = [pair for pair in judged if qrels[pair.question][pair.answer] >= relevant]
    runs = sorted({run for pair in every for run in pair.runs})
    return {
        "pairs": len(every),
        "questions": len({pair.question for pair in every}),
        "relevant_from": relevant,
        **_share(judged, set(good), resamples, seed),
        "runs": [{"run": run, **_of_run(run, judged, good, resamples, seed)} for run in runs],
    }


def _of_run(run: str, judged: Sequence[Pair], good: Sequence[Pair], resamples: int, seed: int) -> dict[str, Any]:
    """Return a run's relevant share, and its relevant answers that neither another run nor the question contributed."""
    alone = sum(pair.runs == {run} and not pair.is_own for pair in good)
    own = [pair for pair in judged if run in pair.runs]
    return {**_share(own, set(good), resamples, seed), "relevant_alone": alone}


def _share(judged: Sequence[Pair], good: set[Pair], resamples: int, seed: int) -> dict[str, Any]:
    relevant = sum(pair in good for pair in judged)
    return {
        "judged": len(judged),
        "relevant": relevant,
        "share": relevant / len(judged) if judged else 0.0,
        "interval": ratio_interval(list(_by_question(judged, good)), resamples=resamples, seed=seed),
    }


def _by_question(judged: Sequence[Pair], good: set[Pair]) -> Iterator[tuple[int, int]]:
    """Yield, for each question, the numbers of relevant and of all judged pairs."""
    counts: dict[str, tuple[int, int]] = {}
    for pair in judged:
        relevant, whole = counts.get(pair.question, (0, 0))
        counts[pair.question] = relevant + (pair in good), whole + 1
    yield from counts.values()


def pool_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the readable report."""
    yield f"{report['pairs']:,} pairs of {report['questions']:,} questions; {report['judged']:,} have a label"
    yield f"relevant (from {report['relevant_from']} on): {_told(report)}"
    for run in report["runs"]:
        yield f"  {run['run']}: {_told(run)}; {run['relevant_alone']:,} by it alone"


def _told(share: Mapping[str, Any]) -> str:
    interval = f" (95%: {share['interval'][0]:.1%} to {share['interval'][1]:.1%})" if share["interval"] else ""
    return f"{share['relevant']:,} of {share['judged']:,}, {share['share']:.1%}{interval}"
