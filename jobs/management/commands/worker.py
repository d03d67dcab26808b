"""``manage.py worker``: run jobs from the database, without a broker."""

import signal
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import close_old_connections
from django.utils import timezone

from jobs.services import jobs_run_due
from jobs.ticks import tick

_TICK_SECONDS = 5.0


class Command(BaseCommand):
    """Run due jobs and the periodic upkeep until told to stop."""

    help = "Run jobs straight from the database; no broker is needed. Several workers may run at once."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("--poll", type=float, default=0.2, metavar="SECONDS", help="how often to look for jobs")
        parser.add_argument("--once", action="store_true", help="run what is due now, then stop")

    def handle(self, *args: Any, **options: Any) -> None:
        """Loop: due jobs, then upkeep, then a short wait."""
        stopping = []
        signal.signal(signal.SIGTERM, lambda *_: stopping.append(True))
        next_tick = 0.0
        while True:
            close_old_connections()
            ran = jobs_run_due()
            if options["once"] and not ran:
                tick(now=timezone.now())
                return
            if time.monotonic() >= next_tick:
                tick(now=timezone.now())
                next_tick = time.monotonic() + _TICK_SECONDS
            if stopping:
                return
            if not ran:
                time.sleep(options["poll"])
