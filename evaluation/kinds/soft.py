"""`evaluate soft`: predicted probabilities compared with the votes of a release."""

import argparse
from pathlib import Path
from typing import Any

from evaluation.kinds.table import metric_lines
from evaluation.relevance.soft import SoftTarget, read_probabilities, read_soft_labels, soft_report

HELP = "soft labels: compare predicted probabilities with the vote shares of a release"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--release", required=True, type=Path, metavar="DIR", help="folder of a release with labels")
    parser.add_argument(
        "--predictions", required=True, type=Path, metavar="FILE", help="JSON lines with item_id and probabilities"
    )
    parser.add_argument(
        "--target",
        default=SoftTarget.VOTES.value,
        choices=[one.value for one in SoftTarget],
        help="distribution to compare with: votes (shares of the counted votes, the default) or posterior (Dawid-Skene model)",
    )


def report(options: dict[str, Any]) -> dict[str, Any]:
    """Return the report.

    Raises
    ------
    EvaluationError
    """
    labels, wanted = read_soft_labels(options["release"], SoftTarget(options["target"]))
    predicted = read_probabilities(options["predictions"], labels)
    return soft_report(wanted, predicted, labels, resamples=options["resamples"], seed=options["seed"])


def text(report: dict[str, Any]) -> str:
    """Return the report as readable text."""
    return "\n".join(
        [
            f"{report['items']:,} items",
            *metric_lines(report["metrics"], report["intervals"]),
            f"  no system can have a cross-entropy below {report['floor']:.4f} nats: people disagree",
        ]
    )
