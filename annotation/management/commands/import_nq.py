"""``manage.py import_nq``: bring a published Natural Questions file into a campaign."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation.campaigns.services.campaigns import NewConsent, NewSplit, campaign_create
from annotation.models import Campaign
from annotation.payloads import NqImportPayload
from jobs.terminal import prepare_database, print_result, run_here


class Command(BaseCommand):
    """Import published examples with their tokens, candidates, ids and, if wanted, annotations."""

    help = (
        "Import a Natural Questions file in the original format (.jsonl or .json, plain or gzip). The file is "
        "streamed, and tokens, candidates, and ids stay as published. The campaign is created if it doesn't "
        "exist. Example: manage.py import_nq nq-dev-00.jsonl.gz --campaign nq-dev --with-annotations"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("file", type=Path, help="Natural Questions file in the original format")
        parser.add_argument(
            "--campaign",
            required=True,
            metavar="SLUG",
            help="the short name of the campaign, which is created if it does not exist",
        )
        parser.add_argument("--with-annotations", action="store_true", help="import the published annotations too")
        parser.add_argument("--split", default="dev", help="for a new campaign: the split's name (default dev)")
        parser.add_argument("--n", type=int, default=5, help="for a new campaign: annotations per item (default 5)")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Create the campaign if need be and import as a job run here."""
        path = options["file"]
        if not path.is_file():
            raise CommandError(f"{path}: no such file")
        prepare_database()
        campaign = Campaign.objects.filter(slug=options["campaign"]).first() or self._create(options)
        payload = NqImportPayload(
            campaign=str(campaign.pk),
            path=str(path.resolve()),
            name=path.name,
            with_annotations=options["with_annotations"],
        )
        job = run_here(kind="annotation.import_nq", payload=payload, stderr=self.stderr, scope_id=campaign.pk)
        for error in job.result["errors"]:
            self.stderr.write(f"{error['where']}: {error['error']}")
        result = {name: job.result[name] for name in ("examples", "annotations", "unchanged", "failed", "errors")}
        summary = "{examples} examples read, {unchanged} there already, {failed} wrong, {annotations} annotations"
        print_result(
            self.stdout,
            {"campaign": campaign.slug, **result},
            as_json=options["json"],
            summary=summary.format(**result),
        )

    def _create(self, options: dict[str, Any]) -> Campaign:
        try:
            return self._made(options)
        except ValueError as error:
            raise CommandError(str(error)) from error

    def _made(self, options: dict[str, Any]) -> Campaign:
        return campaign_create(
            slug=options["campaign"],
            title=f"Natural Questions: {options['campaign']}",
            task_type="nq",
            splits=[NewSplit(options["split"], options["n"])],
            consent=NewConsent("Published data, imported.", "Nothing: nobody annotates yet.", "the administrator"),
            created_by=None,
            now=timezone.now(),
        )
