"""Arguments shared by several steps."""

import re
from argparse import ArgumentParser, ArgumentTypeError
from fractions import Fraction
from pathlib import Path
from typing import Any

from sources.step import StepError


def share(text: str) -> Fraction:
    """Parse a share exactly: ``0.9`` or ``9/10``; used as the type of an argument."""
    is_one = re.fullmatch(r"[01]?(\.\d{1,9})?|\d{1,6}/[1-9]\d{0,5}", text, re.ASCII) and text
    if not is_one or not 0 < Fraction(text) <= 1:
        raise ArgumentTypeError(f"{text!r} isn't a share: expected 0.9 or 9/10, above 0 and at most 1")
    return Fraction(text)


def named_apart(paths: list[Path], what: str) -> list[Path]:
    """Return the files, after a check that their names differ, since rows refer to them by name.

    Raises
    ------
    StepError
        Two files have the same name.
    """
    if len({path.name for path in paths}) < len(paths):
        raise StepError(f"two {what} have one name: where a row comes from could not be told")
    return paths


def add_collection(parser: ArgumentParser) -> None:
    """Add the arguments for the files of questions and of answers to be ranked."""
    parser.add_argument(
        "--questions",
        type=Path,
        required=True,
        metavar="FILE",
        help="questions with id and question, and with nbestanswers and answer where needed: an nfL6 file or kept.jsonl",
    )
    parser.add_argument(
        "--collection", type=Path, required=True, metavar="FILE", help="answers, one per line: id, tab, text"
    )


def collection_of(options: dict[str, Any]) -> dict[str, list[Path]]:
    """Return the files of `add_collection` as inputs of a step."""
    return {"questions": [options["questions"]], "collection": [options["collection"]]}
