"""``manage.py confirm_visits``: count the work of the visits that a panel lists."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.management.campaigns import campaign_named
from jobs.terminal import print_result, run_here
from workforces.kinds.registry import KINDS
from workforces.payloads import VisitsListPayload


class Command(BaseCommand):
    """Confirm visits from a panel's list."""

    help = (
        "Confirm the visits of annotators whose URLs the panel didn't sign, using the panel's own list (.csv, "
        ".tsv, .xlsx, .parquet, or .jsonl). Prolific's export of submissions is accepted as well. The work of "
        "confirmed visits counts from then on. Example: manage.py confirm_visits relevance prolific_export.csv"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("campaign", metavar="SLUG", help="the short name of the campaign")
        parser.add_argument(
            "file", type=Path, help="the panel's list: a table with the participant and the visit in each row"
        )
        parser.add_argument(
            "--encoding", metavar="NAME", help="encoding of a CSV or TSV file that isn't UTF-8, such as gb18030"
        )
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the job that confirms visits."""
        campaign, path = campaign_named(options["campaign"]), options["file"]
        row = next((row for row in campaign.workforces.order_by("pk") if KINDS[row.kind].list_job), None)
        if row is None:
            raise CommandError(f"{campaign.slug} has no link for a panel; add one with manage.py add_workforce")
        if not path.is_file():
            raise CommandError(f"{path}: no such file")
        payload = VisitsListPayload(
            workforce=row.pk, path=str(path.resolve()), name=path.name, encoding=options["encoding"]
        )
        job = run_here(kind=KINDS[row.kind].list_job, payload=payload, stderr=self.stderr, scope_id=campaign.pk)
        for error in job.result["errors"]:
            self.stderr.write(f"{path}, row {error['row']}: {error['error']}")
        for note in job.result["notes"]:
            self.stderr.write(f"{path}: {note}")
        counts = job.result
        summary = f"{counts['confirmed']} visits confirmed, {counts['doubtful']} claimed by several (see the Review queue), {counts['unknown']} unknown or already confirmed, {counts['unfinished']} not finished, {counts['failed']} rows invalid"
        if counts["failed"] and not counts["confirmed"]:
            raise CommandError(f"no visits were confirmed, and some rows have errors. {summary}")
        print_result(self.stdout, dict(counts), as_json=options["json"], summary=summary)
