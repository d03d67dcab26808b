"""``source bm25``: a BM25 run over a collection."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from sources import bm25
from sources.records import read_collection, read_questions
from sources.step import Given, Outputs, StepError
from sources.steps.arguments import add_collection, collection_of

KEY, VERSION = "bm25", 1
HELP = "Rank the answers of a collection for each question by BM25. Writes a TREC run, run.txt."
RUN = "run.txt"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    add_collection(parser)
    parser.add_argument("--depth", type=int, default=10, metavar="K", help="answers per question (default 10)")
    parser.add_argument("--name", default="bm25", help="name of the run (default bm25)")
    parser.add_argument(
        "--k1",
        type=float,
        default=bm25.K1,
        help=f"term saturation: how soon repeated terms stop adding to the score (default {bm25.K1})",
    )
    parser.add_argument(
        "--b",
        type=float,
        default=bm25.B,
        help=f"length normalization: how much long answers are penalized (default {bm25.B})",
    )


def inputs(options: dict[str, Any]) -> dict[str, list[Path]]:
    """Return the files."""
    return collection_of(options)


def parameters(options: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of the ranking.

    Raises
    ------
    StepError
    """
    if options["depth"] < 1 or not 0 <= options["b"] <= 1 or not 0 <= options["k1"] <= 1000:
        raise StepError("the depth is at least 1, b from 0 to 1, k1 from 0 to 1000")
    if not options["name"] or len(options["name"].split()) != 1:
        raise StepError("the name of a run is one word")
    return {name: options[name] for name in ("name", "depth", "k1", "b")}


def make(given: Given, out: Outputs) -> dict[str, Any]:
    """Rank the answers."""
    questions = {one.id: one.record["question"] for one in read_questions(given.file("questions"))}
    collection = dict(read_collection(given.file("collection")))
    name, how = given.parameters["name"], {key: given.parameters[key] for key in ("depth", "k1", "b")}
    out.begin(RUN)
    without = 0
    for question, answers in bm25.bm25_rankings(collection, questions, **how):
        without += not answers
        for place, (answer, score) in enumerate(answers, 1):
            out.line(RUN, f"{question} Q0 {answer} {place} {score!r} {name}")
    return {"questions": len(questions), "answers": len(collection), "without": without}


def text(report: dict[str, Any]) -> str:
    """Return the counts as a line."""
    return (
        f"questions: {report['questions']:,}, without a term of the collection: {report['without']:,}; "
        f"answers in the collection: {report['answers']:,}"
    )
