"""The command line of the untrained baselines of NLPCC 2017."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from baselines.nlpcc.dbqa import bm25_scores
from baselines.nlpcc.kbqa import answers_to, knowledge_read
from evaluation.nlpcc.dbqa import pairs_of
from evaluation.nlpcc.kbqa import read_questions
from exports.formats.nlpcc import END, Block

HELP = {
    "dbqa-bm25": "BM25 over characters and character pairs, for NLPCC's document-based questions",
    "kbqa-match": "match of the longest subject in the question and the most similar predicate, for NLPCC's knowledge-base questions",
}


def add_arguments(parser: ArgumentParser, name: str) -> None:
    """Add the arguments of a baseline."""
    if name == "dbqa-bm25":
        parser.add_argument("--pairs", required=True, type=Path, metavar="FILE", help="file of questions and sentences")
    else:
        parser.add_argument(
            "--questions", required=True, type=Path, metavar="FILE", help="questions in the NLPCC format"
        )
        parser.add_argument(
            "--knowledge-base",
            required=True,
            type=Path,
            metavar="FILE",
            help="facts as subject ||| predicate ||| object, in three columns, or as N-Triples; plain or compressed",
        )
    parser.add_argument("--to", required=True, type=Path, metavar="FILE", help="file to write")


def predict(name: str, options: dict[str, Any]) -> tuple[dict[str, int], str]:
    """Write the scores or answers; return the counts, and a text that reports them.

    Raises
    ------
    EvaluationError
        A file can't be read.
    """
    to: Path = options["to"]
    if name == "dbqa-bm25":
        pairs = pairs_of(options["pairs"])
        to.write_text("".join(f"{score!r}\n" for score in bm25_scores(pairs)))
        return {"pairs": len(pairs)}, f"{len(pairs):,} scores in {to}"
    questions = read_questions(options["questions"])
    known = knowledge_read(options["knowledge_base"], questions.values())
    found = {number: answers_to(question, known.triples) for number, question in questions.items()}
    blocks = (Block(number, text, answer=" | ".join(found[number])) for number, text in questions.items())
    to.write_text("".join(line + END for block in blocks for line in block.lines()), encoding="utf-8", newline="")
    counted = {
        "questions": len(questions),
        "answered": sum(map(bool, found.values())),
        "triples": known.lines,
        "damaged": known.damaged,
    }
    text = f"{counted['answered']:,} of {counted['questions']:,} questions answered in {to}"
    return counted, f"{text}; {known.damaged:,} damaged lines passed over" if known.damaged else text
