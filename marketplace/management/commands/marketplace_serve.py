"""``manage.py marketplace_serve``: the marketplace, alone."""

import os
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser

from marketplace.serving import serve


class Command(BaseCommand):
    """Prepare the database and serve."""

    help = (
        "Serve the marketplace: the requester API (POST /) and the worker site. Its database (DATABASE_URL) is made and "
        "migrated first. The worker site's address is MARKETPLACE_URL; by default it follows --bind "
        "(http://worker.localhost:PORT)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("--bind", default="127.0.0.1:8100", metavar="HOST:PORT", help="default 127.0.0.1:8100")
        parser.add_argument("--threads", type=int, default=8, help="requests answered at a time, each worker")
        parser.add_argument("--workers", type=int, default=1, help="processes that answer")
        parser.add_argument("--quiet", action="store_true", help="print nothing but errors")

    def handle(self, *args: Any, **options: Any) -> None:
        """Prepare and serve."""
        if "MARKETPLACE_URL" not in os.environ:
            # The settings are read by now: begin again with addresses that follow --bind.
            os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | _addresses(options["bind"]))  # noqa: S606
        Path(settings.DATA_DIR).mkdir(parents=True, exist_ok=True)
        call_command("migrate", verbosity=0, interactive=False)
        call_command("createcachetable", verbosity=0)
        call_command("collectstatic", verbosity=0, interactive=False)
        if not options["quiet"]:
            self.stdout.write(
                f"The marketplace: workers at {settings.MARKETPLACE_URL}/, requests to http://{options['bind']}/"
            )
            self.stdout.flush()
        serve(bind=options["bind"], threads=options["threads"], workers=options["workers"], quiet=options["quiet"])


def _addresses(bind: str) -> dict[str, str]:
    port = bind.rpartition(":")[2]
    return {
        "MARKETPLACE_URL": f"http://worker.localhost:{port}",
        "MARKETPLACE_CONTENT_URL": f"http://content.localhost:{port}",
        "MARKETPLACE_API_URL": f"http://{bind}",
    }
