"""``manage.py import_documents``: bring pages into a campaign."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.management.campaigns import campaign_named
from annotation.payloads import DocumentsImportPayload
from jobs.terminal import print_result, run_here


class Command(BaseCommand):
    """Import pages from files or folders."""

    help = (
        "Import pages from .html files, folders of them, .zip archives, or .jsonl(.gz) with url, title, and html."
        " Pages with errors are listed, and all others are imported. Example: manage.py import_documents pages/ "
        "--campaign earth"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("paths", nargs="+", type=Path, help="files or folders with the pages to import")
        parser.add_argument("--campaign", required=True, metavar="SLUG", help="the short name of the campaign")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import each path as a job run here."""
        campaign = campaign_named(options["campaign"])
        total: dict[str, Any] = {"imported": 0, "failed": 0, "errors": []}
        for path in options["paths"]:
            if not path.exists():
                raise CommandError(f"{path}: no such file or folder")
            payload = DocumentsImportPayload(campaign=str(campaign.pk), path=str(path.resolve()), name=path.name)
            job = run_here(
                kind="annotation.import_documents", payload=payload, stderr=self.stderr, scope_id=campaign.pk
            )
            for name in total:
                total[name] += job.result[name]
        for error in total["errors"]:
            self.stderr.write(f"{error['where']}: {error['error']}")
        summary = f"{total['imported']} pages imported, {total['failed']} not"
        print_result(self.stdout, total, as_json=options["json"], summary=summary)
