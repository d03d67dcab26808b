"""`evaluate kbqa`: answers to the questions of NLPCC's knowledge-base task."""

import argparse
from pathlib import Path
from typing import Any

from evaluation.kinds.table import metric_lines
from evaluation.nlpcc.kbqa import kbqa_report, read_answers

HELP = "NLPCC KBQA: score predicted answer sets by averaged F1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--gold", required=True, type=Path, metavar="FILE", help="gold questions and answers; UTF-8 or GBK"
    )
    parser.add_argument(
        "--predictions", required=True, type=Path, metavar="FILE", help="predicted answers in the same format"
    )


def report(options: dict[str, Any]) -> dict[str, Any]:
    """Return the report.

    Raises
    ------
    EvaluationError
    """
    gold, predicted = read_answers(options["gold"]), read_answers(options["predictions"])
    return kbqa_report(gold, predicted, resamples=options["resamples"], seed=options["seed"])


def text(report: dict[str, Any]) -> str:
    """Return the report as readable text."""
    lines = [f"{report['questions']:,} questions", *metric_lines(report["metrics"], report["intervals"])]
    for count, what in (
        (report["unanswered"], "are not answered and count 0"),
        (report["without_answer"], "have no answer in the gold file and are left out"),
        (report["beyond"], "were answered that are not in the gold file, and are passed over"),
    ):
        if count:
            lines.append(f"  {count:,} questions {what}")
    for name, damaged in report["damaged"].items():
        if damaged["lines"]:
            lines.append(f"  {damaged['lines']:,} damaged lines ({name}):")
            lines += [f"    {one}" for one in damaged["first"]]
    return "\n".join(lines)
