"""The shared code of `python -m evaluation` and `manage.py evaluate`: arguments, scoring, output."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any, Protocol

from documents.memory import OutOfMemory, add_memory_argument, memory_limited
from evaluation.files import EvaluationError
from evaluation.kinds import annotator, dbqa, kbqa, nq, pool, ranking, rectified, relevance, soft
from evaluation.statistics import RESAMPLES
from storage.json_output import json_line

DESCRIPTION = (
    "Score predictions, with confidence intervals. nq gives the exact numbers of the official Natural "
    "Questions evaluation. relevance scores runs against qrels, as in the ANTIQUE paper. pool shows how much "
    "of a judged pool is relevant and what each run contributed. soft compares predicted probabilities with "
    "the votes of a release. annotator tests whether a model could replace an annotator. rectified corrects "
    "automatic scores by people's judgments of a sample. ranking plans how many items to judge until systems are told "
    "apart. dbqa and kbqa give the metrics of NLPCC 2017. No database is needed. Example: manage.py evaluate nq --gold "
    "'nq-dev-*.jsonl.gz' --predictions predictions.json"
)

MOST_RESAMPLES = 1_000_000


class Kind(Protocol):
    """The interface of a module in `evaluation.kinds`."""

    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of this kind alone."""
        ...

    def report(self, options: dict[str, Any]) -> dict[str, Any]:
        """Read and score; raise `EvaluationError`."""
        ...

    def text(self, report: dict[str, Any]) -> str:
        """Return the report in readable form."""
        ...


KINDS: dict[str, Kind] = {
    "nq": nq,
    "relevance": relevance,
    "pool": pool,
    "soft": soft,
    "annotator": annotator,
    "rectified": rectified,
    "ranking": ranking,
    "dbqa": dbqa,
    "kbqa": kbqa,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of each kind of dataset."""
    kinds = parser.add_subparsers(dest="kind", required=True)
    for name, kind in KINDS.items():
        own = kinds.add_parser(name, help=kind.HELP, description=kind.HELP)
        kind.add_arguments(own)
        own.add_argument(
            "--resamples",
            type=int,
            default=RESAMPLES,
            metavar="N",
            help=f"number of bootstrap resamples for the intervals (default {RESAMPLES:,}; 0 for no intervals)",
        )
        own.add_argument("--seed", type=int, default=0, metavar="S", help="seed for random draws (default 0)")
        own.add_argument("--json", action="store_true", help="print the report as JSON")


def evaluate(options: dict[str, Any]) -> str:
    """Return the text to print.

    Raises
    ------
    EvaluationError
    """
    if not 0 <= options["resamples"] <= MOST_RESAMPLES or options["seed"] < 0:
        raise EvaluationError(f"--resamples must be between 0 and {MOST_RESAMPLES:,}, and --seed at least 0")
    kind = KINDS[options["kind"]]
    found = kind.report(options)
    return json_line(found) if options["json"] else kind.text(found)


def main(arguments: Sequence[str] | None = None) -> int:
    """Score, print, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m evaluation", description=DESCRIPTION)
    add_memory_argument(parser)
    add_arguments(parser)
    try:
        options = vars(parser.parse_args(arguments))
        with memory_limited(options["memory"]):
            sys.stdout.write(evaluate(options) + "\n")
    except (EvaluationError, OutOfMemory) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0
