"""``manage.py worker``: run jobs from the database, without a broker."""

import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import close_old_connections, connection
from django.utils import timezone

from jobs.services import jobs_run_due
from jobs.ticks import tick


class Command(BaseCommand):
    """Run due jobs and the periodic upkeep until told to stop."""

    help = "Run jobs straight from the database; no broker is needed. Several workers may run at once."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("--poll", type=float, default=0.2, metavar="SECONDS", help="how often to look for jobs")
        parser.add_argument(
            "--tick", type=float, default=5.0, metavar="SECONDS", help="how often to look for what is due"
        )
        parser.add_argument("--once", action="store_true", help="run what is due now, then stop")

    def handle(self, *args: Any, **options: Any) -> None:
        """Loop: due jobs, then upkeep, then a short wait."""
        if options["once"]:
            while jobs_run_due():
                pass
            tick(now=timezone.now())
            return
        stopping = threading.Event()
        signal.signal(signal.SIGTERM, lambda *_: stopping.set())
        # In a thread of its own: deadlines pass while a long job runs.
        upkeep = threading.Thread(target=_keep_up, args=(stopping, options["tick"]), name="upkeep", daemon=True)
        upkeep.start()
        while not stopping.is_set():
            close_old_connections()
            if not jobs_run_due(limit=1):
                stopping.wait(options["poll"])


def _keep_up(stopping: threading.Event, seconds: float) -> None:
    while not stopping.is_set():
        close_old_connections()
        tick(now=timezone.now())
        stopping.wait(seconds)
    connection.close()
