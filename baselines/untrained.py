"""The command line of the untrained baselines of Natural Questions (section 6.1 of the paper)."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from evaluation.baselines.nq import (
    Baseline,
    closest_question,
    first_paragraph,
    most_frequent,
    pages_of,
    predictions_of,
    read_examples,
)
from evaluation.files import EvaluationError, matching_files

COPYING = {"most-frequent": most_frequent, "closest-question": closest_question}
HELP = {
    "first-paragraph": "predict the first paragraph of each page",
    "most-frequent": "predict the most frequent answer of the training examples on the same page",
    "closest-question": "predict the answer of the training example on the same page with the most similar question",
}


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of a baseline."""
    parser.add_argument(
        "--questions",
        required=True,
        nargs="+",
        metavar="GLOB",
        help="question files in the original format; their annotations are ignored",
    )
    parser.add_argument(
        "--train",
        nargs="+",
        default=[],
        metavar="GLOB",
        help="training files with annotations (not needed by first-paragraph)",
    )
    parser.add_argument("--to", required=True, type=Path, metavar="FILE", help="predictions file to write")


def predict(name: str, options: dict[str, Any]) -> dict[str, int]:
    """Write the predictions of a baseline; return the number of predictions, and of those with an answer.

    Raises
    ------
    EvaluationError
        A file can't be read or written.
    """
    baseline: Baseline = first_paragraph
    if name in COPYING:
        if not options["train"]:
            raise EvaluationError(f"{name} copies from training examples: say which with --train")
        baseline = COPYING[name](pages_of(read_examples(_files(options["train"]))))
    found = predictions_of(read_examples(_files(options["questions"])), baseline)
    try:
        options["to"].write_text(json.dumps(found), encoding="utf-8")
    except OSError as error:
        raise EvaluationError(f"{options['to']}: {error.strerror}") from error
    rows = found["predictions"]
    return {"predictions": len(rows), "answered": sum(row["long_answer"]["start_token"] >= 0 for row in rows)}


def _files(patterns: list[str]) -> list[Path]:
    return sorted(set().union(*map(matching_files, patterns)))
