"""The metrics of the ANTIQUE paper (section 4), their uncertainty, and tests of the differences between runs.

Labels of at least ``relevant`` are relevant in MAP, MRR and precision. The gain of nDCG is the label minus the lowest
label: labels 1 to 4 have the gains 0 to 3 (readme of the ANTIQUE release). Negative labels have the gain 0, as in
trec_eval.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from evaluation.relevance.files import Qrels, Run
from evaluation.statistics import PERMUTATIONS, RESAMPLES, holm, mean_intervals, means, randomisation_p

DEPTHS = (1, 3, 10)
MEASURES = {
    "MAP": "map",
    "MRR": "recip_rank",
    **{f"P@{depth}": f"P_{depth}" for depth in DEPTHS},
    **{f"nDCG@{depth}": f"ndcg_cut_{depth}" for depth in DEPTHS},
}
_ASKED = {"map", "recip_rank", f"P.{','.join(map(str, DEPTHS))}", f"ndcg_cut.{','.join(map(str, DEPTHS))}"}
_MOST_NAMED = 20
Values = dict[str, list[float]]  # by measure, of each question in one order


@dataclass(frozen=True, slots=True)
class Convention:
    """The threshold for relevance, and the resampling settings of the report."""

    relevant: int = 3
    lowest: int = 1
    resamples: int = RESAMPLES
    permutations: int = PERMUTATIONS
    seed: int = 0


def relevance_report(qrels: Qrels, runs: Iterable[Run], convention: Convention) -> dict[str, Any]:
    """Return the report on each run and each pair of runs; only one run is in memory at a time.

    The means are over all questions with a label. A question that a run doesn't answer scores 0 (``trec_eval -c``).
    """
    said: list[dict[str, Any]] = []
    values: list[Values] = []
    for run in runs:
        values.append(values_of(qrels, run, convention))
        said.append(_of_run(qrels, run, values[-1], convention))
    return {
        "questions": len(qrels),
        "without_relevant": sum(all(one < convention.relevant for one in labels.values()) for labels in qrels.values()),
        "relevant_from": convention.relevant,
        "runs": said,
        "comparisons": _comparisons([one["run"] for one in said], values, convention),
    }


def values_of(qrels: Qrels, run: Run, convention: Convention) -> Values:
    """Return each measure's value for each question, in the order of the question ids, as trec_eval computes them."""
    import pytrec_eval  # noqa: PLC0415  a third of a second that other kinds of evaluation do not need

    found: Values = {measure: [] for measure in MEASURES}
    for question in sorted(qrels):
        scores = run.scores.get(question)
        got: Mapping[str, float] = {}
        if scores:
            gains = {answer: max(label - convention.lowest, 0) for answer, label in qrels[question].items()}
            evaluator = pytrec_eval.RelevanceEvaluator(
                {question: gains}, _ASKED, relevance_level=convention.relevant - convention.lowest
            )
            got = evaluator.evaluate({question: scores})[question]
        for measure, name in MEASURES.items():
            found[measure].append(got.get(name, 0.0))
    return found


def _of_run(qrels: Qrels, run: Run, values: Values, convention: Convention) -> dict[str, Any]:
    missing = sorted(set(qrels) - set(run.scores))
    return {
        "run": run.name,
        "metrics": means(values),
        "intervals": mean_intervals(values, resamples=convention.resamples, seed=convention.seed),
        "judged": {f"@{depth}": judged_share(qrels, run, depth) for depth in DEPTHS},
        "unanswered": len(missing),
        "unanswered_first": missing[:_MOST_NAMED],
        "without_labels": len(run.unjudged),
        "ties": sum(len(set(scores.values())) < len(scores) for scores in run.scores.values()),
    }


def judged_share(qrels: Qrels, run: Run, depth: int) -> float:
    """Return the labeled share of the first results, as a mean over the questions that the run answers."""
    shares = []
    for question in run.scores:
        first = run.ranking(question)[:depth]
        shares.append(sum(answer in qrels[question] for answer in first) / len(first))
    return sum(shares) / len(shares) if shares else 0.0


def _comparisons(runs: Sequence[str], values: Sequence[Values], convention: Convention) -> list[dict[str, Any]]:
    """Return the difference of each pair of runs by each measure; p is corrected for all of these comparisons."""
    rows: list[dict[str, Any]] = [
        {
            "first": runs[one],
            "second": runs[other],
            "measure": measure,
            "p": p,
            "difference": means(values[one])[measure] - means(values[other])[measure],
        }
        for one, other in combinations(range(len(runs)), 2)
        for measure, p in randomisation_p(
            values[one], values[other], permutations=convention.permutations, seed=convention.seed
        ).items()
    ]
    corrected = holm({place: float(row["p"]) for place, row in enumerate(rows)})
    return [{**row, "p_holm": corrected[place]} for place, row in enumerate(rows)]
