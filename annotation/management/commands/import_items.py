"""``manage.py import_items``: bring questions into a campaign."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.management.campaigns import campaign_named, launch_here
from annotation.payloads import ItemsImportPayload
from jobs.terminal import print_result, run_here


class Command(BaseCommand):
    """Import items from JSON lines or CSV."""

    help = (
        "Import items from a table with a header (.csv, .tsv, .xlsx, .parquet) or from JSON lines (.jsonl). Each "
        "row needs an id, a question, and the name, URL, or title of an imported page. The id is in the column "
        "external_id, example_id, or id; the question in question_text or question; the page in document, page, "
        "document_url, or document_title. All rows are checked before any is imported. Importing the same rows "
        "again changes nothing. Example: manage.py import_items questions.jsonl --campaign earth --launch"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("file", type=Path, help="the table of items")
        parser.add_argument("--campaign", required=True, metavar="SLUG", help="the short name of the campaign")
        parser.add_argument(
            "--good-rows-only", action="store_true", help="import the valid rows even if other rows have errors"
        )
        parser.add_argument(
            "--pilot",
            action="store_true",
            help="import the items as a pilot, which is excluded from the dataset and its statistics",
        )
        parser.add_argument("--people", type=int, default=2, help="with --pilot: annotations per item (default 2)")
        parser.add_argument(
            "--encoding", metavar="NAME", help="encoding of a CSV or TSV file that isn't UTF-8, such as gb18030"
        )
        parser.add_argument(
            "--launch", action="store_true", help="launch all draft items and open the campaign after the import"
        )
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import as a job run here, then launch if asked to."""
        campaign, path = campaign_named(options["campaign"]), options["file"]
        if not path.is_file():
            raise CommandError(f"{path}: no such file")
        payload = ItemsImportPayload(
            campaign=str(campaign.pk),
            path=str(path.resolve()),
            name=path.name,
            pilot=options["pilot"],
            good_rows_only=options["good_rows_only"],
            people=options["people"],
            encoding=options["encoding"],
        )
        job = run_here(kind="annotation.import_items", payload=payload, stderr=self.stderr, scope_id=campaign.pk)
        result = dict(job.result)
        for error in result["errors"]:
            self.stderr.write(f"{path}, row {error['row']}, {error['column']}: {error['error']}")
        for note in result["notes"]:
            self.stderr.write(f"{path}: {note}")
        if options["launch"]:
            result["slots"] = launch_here(campaign, self.stderr)
        summary = f"{result['imported']} items imported, {result['unchanged']} there already, {result['failed']} wrong"
        print_result(self.stdout, result, as_json=options["json"], summary=summary)
