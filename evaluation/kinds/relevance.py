"""`evaluate relevance`: runs against labels."""

import argparse
from pathlib import Path
from typing import Any

from evaluation.files import EvaluationError
from evaluation.kinds.table import metric_lines
from evaluation.relevance.files import MOST_LABEL, read_qrels, read_questions, read_run
from evaluation.relevance.report import Convention, relevance_report
from evaluation.statistics import PERMUTATIONS
from exports.released.folder import shown

HELP = "TREC runs: score runs against qrels; several runs are compared pairwise"
MOST_RUNS = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--qrels", required=True, type=Path, metavar="FILE", help="relevance judgments (qrels) in TREC format"
    )
    parser.add_argument(
        "--run", required=True, nargs="+", type=Path, metavar="FILE", help="one or more runs in TREC format"
    )
    parser.add_argument(
        "--without",
        type=Path,
        metavar="FILE",
        help="file of question ids to leave out, one per line, such as ANTIQUE's blacklist",
    )
    parser.add_argument(
        "--relevant",
        type=int,
        default=3,
        metavar="LABEL",
        help="lowest label that counts as relevant in MAP, MRR, and P (default 3)",
    )
    parser.add_argument(
        "--lowest", type=int, default=1, metavar="LABEL", help="label whose gain in nDCG is 0 (default 1)"
    )
    parser.add_argument(
        "--permutations",
        type=int,
        default=PERMUTATIONS,
        metavar="N",
        help=f"permutations for the significance test of two runs (default {PERMUTATIONS:,})",
    )


def report(options: dict[str, Any]) -> dict[str, Any]:
    """Return the report.

    Raises
    ------
    EvaluationError
    """
    if not 0 <= options["lowest"] < options["relevant"] <= MOST_LABEL:
        raise EvaluationError(
            f"relevant labels begin above the lowest one, which is at least 0, and at {MOST_LABEL} at most"
        )
    if not 1 <= options["permutations"] <= 1_000_000 or len(options["run"]) > MOST_RUNS:
        raise EvaluationError(f"expected 1 to 1,000,000 permutations, and at most {MOST_RUNS} runs")
    without = read_questions(options["without"]) if options["without"] else frozenset()
    qrels = read_qrels(options["qrels"], lowest=options["lowest"], without=without)
    convention = Convention(
        options["relevant"], options["lowest"], options["resamples"], options["permutations"], options["seed"]
    )
    return relevance_report(qrels, (read_run(path, qrels, without=without) for path in options["run"]), convention)


def text(report: dict[str, Any]) -> str:
    """Return the report as readable text."""
    none, least = report["without_relevant"], report["relevant_from"]
    lines = [
        f"{report['questions']:,} questions with labels; {none:,} of them have no answer with label {least} or above"
    ]
    for run in report["runs"]:
        lines += ["", shown(run["run"]), *metric_lines(run["metrics"], run["intervals"])]
        judged = ", ".join(f"{100 * share:.1f}% of the first {depth[1:]}" for depth, share in run["judged"].items())
        lines.append(f"  judged: {judged}")
        for count, what in (
            (run["unanswered"], "questions are not answered and count 0"),
            (run["without_labels"], "questions have no label and are passed over"),
            (run["ties"], "questions have answers with equal scores: the greater id is ranked first, as by trec_eval"),
        ):
            if count:
                lines.append(f"  {count:,} {what}")
    if report["comparisons"]:
        lines += ["", "difference of the means, p of the randomisation test, p after Holm's correction"]
    lines += [
        f"  {row['measure']:<8} {shown(row['first'])} - {shown(row['second'])}: {row['difference']:+.4f}   "
        f"{row['p']:.4f}   {row['p_holm']:.4f}"
        for row in report["comparisons"]
    ]
    return "\n".join(lines)
