"""Options for commands that read a file of judgments."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from measures.agreement import Level
from measures.judgment_files import JudgmentOptions
from measures.judgments import Repeats


def add_reading_arguments(parser: ArgumentParser) -> None:
    """Add the options for reading a file of judgments."""
    parser.add_argument(
        "--missing",
        action="append",
        default=[],
        metavar="TEXT",
        help="leave out rows with this text as their label, such as n/a; repeatable",
    )
    parser.add_argument("--skip-empty", action="store_true", help="leave out rows with an empty cell")
    parser.add_argument(
        "--encoding", metavar="NAME", help="encoding of CSV and TSV files that aren't UTF-8, such as gb18030"
    )


def asked_of(options: Mapping[str, Any]) -> JudgmentOptions:
    """Return the options for reading a file of judgments."""
    labels = options["labels_in_order"] or ""
    return JudgmentOptions(
        level=Level(options["level"]),
        labels=[label.strip() for label in labels.split(",") if label.strip()],
        missing=options["missing"],
        skip_empty=options["skip_empty"],
        encoding=options["encoding"],
        repeats=Repeats(options.get("repeats") or Repeats.LAST),
    )
