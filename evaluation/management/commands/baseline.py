"""``manage.py baseline``: predictions without a trained model."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from documents.management.reading import ReadingCommand
from evaluation.baselines.nq import (
    closest_question,
    first_paragraph,
    most_frequent,
    pages_of,
    predictions_of,
    read_examples,
)
from evaluation.files import EvaluationError, matching_files
from storage.json_output import json_line

COPYING = {"most-frequent": most_frequent, "closest-question": closest_question}


class Command(ReadingCommand):
    """Write a baseline's predictions."""

    help = (
        "Write the predictions of an untrained baseline of Natural Questions (section 6.1 of the paper), to hold systems "
        "against: first-paragraph; most-frequent and closest-question copy from training examples on the same page. "
        "Example: manage.py baseline first-paragraph --questions 'nq-dev-*.jsonl.gz' --to predictions.json"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("name", choices=["first-paragraph", *COPYING], help="which baseline")
        parser.add_argument(
            "--questions",
            required=True,
            nargs="+",
            metavar="GLOB",
            help="files of the original format; their annotations are not looked at",
        )
        parser.add_argument(
            "--train", nargs="+", default=[], metavar="GLOB", help="files with annotations to copy from"
        )
        parser.add_argument("--to", required=True, type=Path, metavar="FILE", help="the predictions file to write")
        parser.add_argument("--json", action="store_true", help="print what was written as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Read, predict, write."""
        try:
            found = predictions_of(read_examples(_files(options["questions"])), self._baseline(options))
            options["to"].write_text(json.dumps(found), encoding="utf-8")
        except (EvaluationError, OSError) as error:
            raise CommandError(str(error)) from error
        rows = found["predictions"]
        answered = sum(row["long_answer"]["start_token"] >= 0 for row in rows)
        summary = {"predictions": len(rows), "answered": answered}
        text = f"{len(rows):,} predictions, {answered:,} of them with an answer, written to {options['to']}"
        self.stdout.write(json_line(summary) if options["json"] else text)

    def _baseline(self, options: dict[str, Any]) -> Any:
        if options["name"] not in COPYING:
            return first_paragraph
        if not options["train"]:
            raise CommandError(f"{options['name']} copies from training examples: say which with --train")
        return COPYING[options["name"]](pages_of(read_examples(_files(options["train"]))))


def _files(patterns: list[str]) -> list[Path]:
    return sorted(set().union(*map(matching_files, patterns)))
