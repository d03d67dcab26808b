"""``manage.py import_gold``: import known answers."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation.management.campaigns import campaign_named
from jobs.terminal import print_result
from quality.gold.services.keys import GoldRefused, gold_import
from storage.tables.rows import read_rows


class Command(BaseCommand):
    """Import gold keys."""

    help = (
        "Import gold questions from .jsonl, .json, or a table (.csv, .tsv, .xlsx, .parquet). The rows are the "
        "same as for import_items, with an additional column accepted. This column lists the correct labels, as "
        "in 3 4, 3;4 or [3, 4]. All rows are checked before any is imported. Importing the same rows again "
        "changes nothing. Example: manage.py import_gold gold.jsonl --campaign relevance"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("file", type=Path, help="the table of gold questions")
        parser.add_argument("--campaign", required=True, metavar="SLUG", help="the short name of the campaign")
        parser.add_argument(
            "--experts",
            type=int,
            default=0,
            help="number of experts who must confirm each answer key before it is used (default 0)",
        )
        parser.add_argument(
            "--encoding", metavar="NAME", help="encoding of a CSV or TSV file that isn't UTF-8, such as gb18030"
        )
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Check and import the keys, and print the result."""
        campaign, path = campaign_named(options["campaign"]), options["file"]
        if not path.is_file():
            raise CommandError(f"{path}: no such file")
        try:
            with path.open("rb") as file:
                rows = read_rows(file, path.name, encoding=options["encoding"])
                made = gold_import(
                    campaign=campaign, rows=rows, actor_id=None, now=timezone.now(), experts=options["experts"]
                )
        except (GoldRefused, ValueError) as error:
            raise CommandError(f"{path}: {error}") from error
        notes = rows.reading.said()
        for note in notes:
            self.stderr.write(f"{path}: {note}")
        print_result(
            self.stdout,
            {"keys": made, "notes": notes},
            as_json=options["json"],
            summary=f"{made} gold questions imported",
        )
