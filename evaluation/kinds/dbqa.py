"""`evaluate dbqa`: sentences ranked for the questions of NLPCC's document-based task."""

import argparse
from pathlib import Path
from typing import Any

from evaluation.kinds.table import metric_lines
from evaluation.nlpcc.dbqa import Ties, dbqa_report, read_pairs, read_scores

HELP = "NLPCC DBQA: score predicted scores of question-sentence pairs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--pairs",
        required=True,
        type=Path,
        metavar="FILE",
        help="pairs to score: one question, sentence, and label per line, separated by tabs; UTF-8 or GBK",
    )
    parser.add_argument(
        "--scores", required=True, type=Path, metavar="FILE", help="one score per line, in the same order as the pairs"
    )
    parser.add_argument(
        "--ties",
        default=Ties.FILE.value,
        choices=[one.value for one in Ties],
        help="order of equal scores: file (as in the pairs file, the default) or worst (wrong sentences first)",
    )


def report(options: dict[str, Any]) -> dict[str, Any]:
    """Return the report.

    Raises
    ------
    EvaluationError
    """
    return dbqa_report(
        read_pairs(options["pairs"]),
        read_scores(options["scores"]),
        ties=Ties(options["ties"]),
        resamples=options["resamples"],
        seed=options["seed"],
    )


def text(report: dict[str, Any]) -> str:
    """Return the report as readable text."""
    lines = [f"{report['questions']:,} questions, {report['pairs']:,} pairs"]
    lines += metric_lines(report["metrics"], report["intervals"])
    if report["without_answer"]:
        lines.append(f"  {report['without_answer']:,} questions have no sentence that answers them and count 0")
    if report["questions_with_ties_that_matter"]:
        how = "as in the file" if report["ties"] == Ties.FILE else "at worst"
        lines.append(
            f"  {report['questions_with_ties_that_matter']:,} questions have equal scores that matter: ranked {how}"
        )
    return "\n".join(lines)
