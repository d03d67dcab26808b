"""``manage.py release_errata``: list content of a release that is no longer counted."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.management.campaigns import campaign_named
from exports.models import Release
from exports.selectors.errata import errata_of
from exports.selectors.sealing import closed_by
from storage.json_output import json_line


class Command(BaseCommand):
    """List annotations that were excluded after a release was frozen."""

    help = (
        "List the annotations of a release that no longer count because they were excluded or withdrawn, or "
        "because their items were retired. The output is one JSON object per line. The next release with the same"
        " format and --ways includes this list. Example: manage.py release_errata earth 1"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("campaign", metavar="SLUG", help="the short name of the campaign")
        parser.add_argument("number", type=int, metavar="NUMBER", help="the number of the release")

    def handle(self, *args: Any, **options: Any) -> None:
        """Find and list the errata."""
        campaign = campaign_named(options["campaign"])
        release = Release.objects.select_related("campaign").filter(campaign=campaign, number=options["number"]).first()
        if release is None or closed_by(release):
            raise CommandError(
                f"{campaign.slug} has no release {options['number']}, or the release contains labels of a split that was sealed later"
            )
        count = 0
        for item, annotation, why in errata_of(release):
            row = {"annotation_id": annotation, "because": why, "item_id": item, "release": release.number}
            self.stdout.write(json_line(row))
            count += 1
        self.stderr.write(f"{count:,} annotations no longer count")
