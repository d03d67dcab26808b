"""`evaluate annotator`: whether a model could stand in for an annotator."""

import argparse
from pathlib import Path
from typing import Any

from evaluation.annotator.alternative import EPSILONS, LEVEL, PASSES, Alignment, alternative_report
from evaluation.annotator.files import read_labels, read_votes
from evaluation.files import EvaluationError

HELP = "alternative annotator test: compare a model's labels with those of the annotators of a release"
MOST_SHOWN = 50


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--release", required=True, type=Path, metavar="DIR", help="folder of a release with labels")
    parser.add_argument(
        "--predictions", required=True, type=Path, metavar="FILE", help="JSON lines with item_id and label"
    )
    parser.add_argument(
        "--epsilon",
        type=float,
        default=EPSILONS["crowd"],
        metavar="E",
        help="margin by which the model may win less often than an annotator, to allow for the cost of human "
        "annotation (default 0.1, for crowds; 0.15 for skilled people, 0.2 for experts)",
    )
    parser.add_argument(
        "--alignment",
        default=Alignment.ACCURACY.value,
        choices=[one.value for one in Alignment],
        help="measure of agreement with the other annotators' labels: accuracy (share of identical labels, the "
        "default) or rmse (root mean squared difference, for numeric labels)",
    )


def report(options: dict[str, Any]) -> dict[str, Any]:
    """Return the report.

    Raises
    ------
    EvaluationError
    """
    if not 0 <= options["epsilon"] < 1:
        raise EvaluationError("epsilon lies between 0 and 1")
    votes = read_votes(options["release"])
    labels = read_labels(options["predictions"], votes)
    return alternative_report(votes, labels, epsilon=options["epsilon"], alignment=Alignment(options["alignment"]))


def text(report: dict[str, Any]) -> str:
    """Return the report as readable text."""
    same = report["agreement"]
    verdict = "may stand in for an annotator" if report["passes"] else "may not stand in for an annotator"
    lines = [
        f"{report['items']:,} items, {report['annotators']:,} annotators, {report['tested']:,} of them with enough items to test",
        f"says the same as a person: the model {100 * same['model']:.1f}%, another person {100 * same['people']:.1f}%",
        f"winning rate ω {report['omega']:.2f} (at ε = {report['epsilon']:g}), advantage ρ {report['rho']:.2f}",
        f"the model {verdict}: ω is {'at least' if report['passes'] else 'below'} {PASSES}",
        "",
        "annotator                 items   model  person   p (Benjamini-Yekutieli)",
    ]
    lines += [
        f"{row['annotator']:<24} {row['items']:>6,}   {row['model']:.3f}   {row['person']:.3f}   {row['p']:.4f}{' *' if row['p'] < LEVEL else ''}"
        for row in report["compared"][:MOST_SHOWN]
    ]
    return "\n".join(lines)
