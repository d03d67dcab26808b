"""``manage.py validate_nq``: check Natural Questions files."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from documents.html.published import PublishedError, read_records
from documents.html.published_rules import Checker
from documents.management.reading import ReadingCommand
from storage.json_output import json_line
from storage.lines import DamagedFile


class Command(ReadingCommand):
    """Check every record of one or more files against the rules of the format."""

    help = (
        "Check the offsets, candidates, annotations, and ids of Natural Questions files in the original or "
        "simplified format, plain or gzip. Ids must be unique across all files. Each error names the file, line, "
        "and field; any error makes the command fail. Example: manage.py validate_nq out/nq-dev-*.jsonl.gz"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("files", nargs="+", type=Path, metavar="FILES", help="the files to check")
        parser.add_argument(
            "--unlabeled", action="store_true", help="allow records without annotations, as in a hidden test set"
        )
        parser.add_argument(
            "--most", type=int, default=100, help="maximum number of errors to report before stopping (default 100)"
        )
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Check, print, and fail if anything is wrong."""
        checker = Checker(unlabeled=options["unlabeled"])
        errors: list[dict[str, Any]] = []
        records = 0
        for path in options["files"]:
            records += _check_file(path, checker, errors)
            if len(errors) >= options["most"]:
                break
        errors = errors[: options["most"]]
        if options["json"]:
            self.stdout.write(json_line({"records": records, "valid": not errors, "errors": errors}))
        else:
            for row in errors:
                self.stdout.write(f"{row['file']}:{row['line']}: {row['field']}: {row['error']}")
        if errors or not records:
            raise CommandError(f"{len(errors)} errors in {records} records" if errors else "no record was found")
        if not options["json"]:
            self.stdout.write(f"{records} records, all valid")


def _check_file(path: Path, checker: Checker, errors: list[dict[str, Any]]) -> int:
    """Add what is wrong in one file to the errors and return how many records it holds."""
    records = 0

    def note(line: int, field: str, error: str) -> None:
        errors.append({"file": str(path), "line": line, "field": field, "error": error})

    try:
        with path.open("rb") as file:
            for line, record in read_records(file):
                records += 1
                for field, what in checker.problems(record):
                    note(line, field, what)
    except PublishedError as error:
        note(error.line, "line", str(error))
    except (OSError, DamagedFile) as error:
        note(0, "file", str(error))
    return records
