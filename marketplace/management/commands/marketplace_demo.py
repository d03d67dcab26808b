"""``manage.py marketplace_demo``: create demo data in a new marketplace."""

import json
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from marketplace import clock
from marketplace.demo import seed
from marketplace.management.prepared import prepare
from marketplace.services.requesters import frame_secret, key_secret


class Command(BaseCommand):
    """Fill the database."""

    help = (
        "Create a requester with money, two workers, and open HITs, unless they already exist. Needs "
        "MARKETPLACE_DEVELOPMENT=1. Example: manage.py marketplace_demo"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument(
            "--port", type=int, default=8100, help="port of the marketplace, for the printed URLs (default 8100)"
        )
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Fill and print."""
        if not settings.MARKETPLACE_DEVELOPMENT:
            raise CommandError(
                "marketplace_demo creates workers with invented approval records and works only with MARKETPLACE_DEVELOPMENT=1"
            )
        prepare()
        requester, key, workers = seed(now=clock.now())
        shown = {
            "workers_url": f"http://worker.localhost:{options['port']}/",
            "endpoint_url": f"http://127.0.0.1:{options['port']}",
            "requester": requester.name,
            "aws_access_key_id": key.key_id,
            "aws_secret_access_key": key_secret(key),
            "frame_secret": frame_secret(requester),
            "workers": workers,
        }
        if options["json"]:
            self.stdout.write(json.dumps(shown))
            return
        for name, value in shown.items():
            self.stdout.write(f"{name:<22} {value}")
