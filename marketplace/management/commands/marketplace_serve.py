"""``manage.py marketplace_serve``: run the marketplace without the platform."""

import os
import socket
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from marketplace.protocol.questions import is_loopback
from marketplace.serving import serve


class Command(BaseCommand):
    """Prepare the database and serve."""

    help = (
        "Serve the marketplace: the requester API (POST /) and the worker site. The database "
        "(MARKETPLACE_DATABASE_URL) is set up and migrated first. MARKETPLACE_URL sets the worker site's URL, "
        "which by default is http://worker.localhost:PORT with the port of --bind. Example: manage.py "
        "marketplace_serve --bind 127.0.0.1:8100"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument(
            "--bind",
            default="127.0.0.1:8100",
            metavar="HOST:PORT",
            help="address to listen on (default 127.0.0.1:8100); fd://NUMBER uses an inherited listening socket",
        )
        parser.add_argument(
            "--threads",
            type=int,
            default=8,
            help="threads per worker process, each serving one request at a time (default 8)",
        )
        parser.add_argument("--workers", type=int, default=1, help="number of worker processes (default 1)")
        parser.add_argument("--quiet", action="store_true", help="print only errors")

    def handle(self, *args: Any, **options: Any) -> None:
        """Prepare and serve."""
        os.umask(0o077)  # sessions and addresses are nobody else's on this machine
        host, port = _free_address(options["bind"])
        if settings.MARKETPLACE_IS_LOCAL and not is_loopback(host):
            raise CommandError(
                f"--bind {options['bind']} can be reached from other machines: set MARKETPLACE_URL and "
                "MARKETPLACE_CONTENT_URL to https addresses first (docs/how-to/run-the-marketplace.md)"
            )
        Path(settings.DATA_DIR).mkdir(parents=True, exist_ok=True)
        if not settings.MARKETPLACE_PORT_FILE.exists() or settings.MARKETPLACE_PORT_FILE.read_text() != str(port):
            settings.MARKETPLACE_PORT_FILE.write_text(str(port))
            # The settings are read by now: begin again with addresses that follow the port.
            os.execve(sys.executable, [sys.executable, *sys.argv], os.environ.copy())  # noqa: S606
        call_command("migrate", verbosity=0, interactive=False)
        call_command("createcachetable", verbosity=0)
        call_command("collectstatic", verbosity=0, interactive=False)
        if not options["quiet"]:
            self.stdout.write(
                f"The marketplace: workers at {settings.MARKETPLACE_URL}/, requests to {settings.MARKETPLACE_API_URL}/"
            )
            self.stdout.flush()
        serve(bind=options["bind"], threads=options["threads"], workers=options["workers"], quiet=options["quiet"])


def _free_address(bind: str) -> tuple[str, int]:
    """Return host and port of ``--bind``; reject an invalid address, or one in use."""
    if bind.startswith("fd://"):
        return _inherited_address(bind)
    host, _, port = bind.rpartition(":")
    if not host or not port.isdecimal():
        raise CommandError(f"--bind must be HOST:PORT such as 127.0.0.1:8100, not {bind!r}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host.strip("[]"), int(port)))
        except (OSError, OverflowError) as error:
            raise CommandError(f"--bind {bind}: {error}; check whether another program uses this port") from error
    return host.strip("[]"), int(port)


def _inherited_address(bind: str) -> tuple[str, int]:
    try:
        listener = socket.socket(fileno=int(bind.removeprefix("fd://")))
    except (OSError, ValueError) as error:
        raise CommandError(f"--bind {bind}: {error}") from error
    host, port = listener.getsockname()[:2]
    listener.detach()  # stays open: the server takes it
    return host, port
