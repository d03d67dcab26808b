"""`evaluate pool`: statistics on the labels of a pool."""

import argparse
from pathlib import Path
from typing import Any

from evaluation.files import EvaluationError
from evaluation.relevance.files import MOST_LABEL, read_qrels
from evaluation.relevance.pools import pool_lines, pool_report, read_pairs
from exports.released.folder import shown

HELP = "judged pools: the share of relevant pairs, and each run's contribution"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--pairs", required=True, type=Path, metavar="FILE", help="pairs.jsonl from the command `source pool`"
    )
    parser.add_argument(
        "--qrels", required=True, type=Path, metavar="FILE", help="relevance judgments (qrels) in TREC format"
    )
    parser.add_argument(
        "--relevant", type=int, default=3, metavar="LABEL", help="lowest label that counts as relevant (default 3)"
    )


def report(options: dict[str, Any]) -> dict[str, Any]:
    """Return the report.

    Raises
    ------
    EvaluationError
    """
    if not 1 <= options["relevant"] <= MOST_LABEL:
        raise EvaluationError(f"relevant labels begin at 1 to {MOST_LABEL}")
    qrels = read_qrels(options["qrels"], lowest=0)
    chance = {name: options[name] for name in ("resamples", "seed")}
    return pool_report(read_pairs(options["pairs"]), qrels, relevant=options["relevant"], **chance)


def text(report: dict[str, Any]) -> str:
    """Return the report as readable text."""
    return "\n".join(map(shown, pool_lines(report)))
