"""``manage.py marketplace_demo``: something to find in a fresh marketplace."""

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
        "Make a requester with money, two workers and open HITs, if they are not there. Needs MARKETPLACE_DEVELOPMENT=1. "
        "Example: manage.py marketplace_demo"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("--port", type=int, default=8100, help="where it will be served, for the printed addresses")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Fill and print."""
        if not settings.MARKETPLACE_DEVELOPMENT:
            raise CommandError("the demo's workers have a record that nobody earned: MARKETPLACE_DEVELOPMENT=1 only")
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
