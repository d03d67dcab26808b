"""``manage.py release_publish``: publish a release to a hub."""

import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation.management.campaigns import campaign_named
from exports.models import Publication, PublicationState, Release
from exports.publishing.base import PublishError
from exports.publishing.registry import HUBS
from exports.publishing.services import publication_request
from storage.json_output import json_line

PAUSE_SECONDS = 1


class Command(BaseCommand):
    """Queue the publication of a release, and wait for it."""

    help = (
        "Publish a release to the Hugging Face Hub or Zenodo, under the account whose token is set. A worker must be "
        "running. Without --public, only that account sees the release; run the command again with --public later. "
        "Example: manage.py release_publish earth 1 --to hugging_face --name lab/earth --public"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("campaign", metavar="SLUG", help="the short name of the campaign")
        parser.add_argument("number", type=int, metavar="NUMBER", help="the number of the release")
        parser.add_argument("--to", required=True, choices=list(HUBS), help="the hub")
        parser.add_argument("--name", default="", metavar="OWNER/NAME", help="the repository, for the Hugging Face Hub")
        parser.add_argument("--public", action="store_true", help="make it public, which can't be undone")
        parser.add_argument(
            "--evaluation-framework",
            default="",
            metavar="NAME",
            help="register a benchmark on the Hugging Face Hub (eval.yaml), for example inspect-ai",
        )
        parser.add_argument("--no-wait", action="store_true", help="don't wait until it's published")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Queue it, wait, and print where it is."""
        campaign = campaign_named(options["campaign"])
        release = Release.objects.filter(campaign=campaign, number=options["number"]).first()
        if release is None:
            raise CommandError(f"{campaign.slug} has no release {options['number']}")
        try:
            row = publication_request(
                release=release,
                hub=options["to"],
                address=options["name"],
                is_public=options["public"],
                evaluation_framework=options["evaluation_framework"],
                actor_id=None,
                now=timezone.now(),
            )
        except PublishError as error:
            raise CommandError(str(error)) from error
        while not options["no_wait"] and row.state == PublicationState.PUBLISHING and not row.is_failed:
            time.sleep(PAUSE_SECONDS)
            row = Publication.objects.select_related("job").get(pk=row.pk)
        if row.is_failed:
            raise CommandError(row.reason)
        found = {"state": row.state, "url": row.url, "version": row.version, "doi": row.doi}
        text = f"{row.get_state_display()}: {row.url} {row.doi}".rstrip(": ")
        self.stdout.write(json_line(found) if options["json"] else text)
