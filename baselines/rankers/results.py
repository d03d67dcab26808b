"""The table of results on a release in the format of ANTIQUE: BM25, rankers, and random order."""

import random
from collections.abc import Mapping
from pathlib import Path

from baselines.rankers.data import RELEVANT, Ranking, run_lines
from baselines.tables import Figure, Results, Row
from evaluation.relevance.files import read_qrels, read_run
from evaluation.relevance.report import Convention, relevance_report
from sources.bm25 import bm25_rankings

METRICS = ("MAP", "MRR", "P@1", "P@3", "P@10", "nDCG@1", "nDCG@3", "nDCG@10")
SHOWN = ("MAP", "MRR", "P@1", "nDCG@10")
NAMES = {
    "bm25": "BM25",
    "random": "Random order",
    "bert": "BERT",
    "bi-encoder": "Bi-encoder",
    "drmm-tks": "DRMM-TKS",
    "anmm": "aNMM",
    "blind": "BERT without the question (control)",
}
# ANTIQUE, Table 2.
_PUBLISHED = {
    "bm25": (0.1977, 0.4885, 0.3333, 0.2929, 0.2485, 0.4411, 0.4237, 0.4334),
    "drmm-tks": (0.2315, 0.5774, 0.4337, 0.3827, 0.3005, 0.4949, 0.4626, 0.4531),
    "anmm": (0.2563, 0.6250, 0.4847, 0.4388, 0.3306, 0.5289, 0.5127, 0.4904),
    "bert": (0.3771, 0.7968, 0.7092, 0.6071, 0.4791, 0.7126, 0.6570, 0.6423),
}


def untrained_write(ranking: Ranking, folder: Path) -> dict[str, Path]:
    """Write the runs of BM25 and of random order over the candidates of each question, and return their files."""
    chance = random.Random(0)  # noqa: S311  an order
    depth = len(ranking.answers)
    found = {"bm25": dict[str, dict[str, float]](), "random": dict[str, dict[str, float]]()}
    for question, answers in bm25_rankings(ranking.answers, ranking.questions, depth=depth):
        scores = dict(answers)
        found["bm25"][question] = {answer: scores.get(answer, 0.0) for answer in ranking.candidates[question]}
    for question, candidates in ranking.candidates.items():
        found["random"][question] = {answer: chance.random() for answer in candidates}
    written = {}
    for name, run in found.items():
        written[name] = folder / f"{name}.run"
        with written[name].open("w", encoding="utf-8") as file:
            for question, own in run.items():
                file.writelines(run_lines(question, own, name))
    return written


def results_of(qrels_file: Path, systems: Mapping[str, tuple[str, Path]], *, resamples: int) -> Results:
    """Return the table of systems.

    Parameters
    ----------
    systems
        The key of the paper's published figures (if any), and the run, by the name that is shown.

    Raises
    ------
    EvaluationError
        A file can't be read.
    """
    qrels = read_qrels(qrels_file, lowest=1)
    rows = []
    for name, (key, path) in systems.items():
        (said,) = relevance_report(qrels, [read_run(path, qrels)], Convention(resamples=resamples))["runs"]
        figures = {metric: Figure(said["metrics"][metric], *said["intervals"].get(metric, ())) for metric in METRICS}
        published = dict(zip(METRICS, _PUBLISHED.get(key, ()), strict=False))
        rows.append(Row(name, figures, published))
    caption = (
        f"Rankings of {len(qrels):,} questions with 95% intervals; answers with label {RELEVANT} or above are relevant. "
        "Figures of the paper are on its own data (Hashemi et al. 2020, Table 2)."
    )
    return Results(caption, METRICS, SHOWN, "paper", rows)
