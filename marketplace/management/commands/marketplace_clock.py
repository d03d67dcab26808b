"""``manage.py marketplace_clock``: move the marketplace's clock, for development."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.dateparse import parse_duration

from marketplace import clock
from marketplace.management.prepared import prepare
from marketplace.services.clockwork import clock_advance, clock_freeze, clock_reset
from marketplace.services.sweep import sweep


class Command(BaseCommand):
    """Move, stop or reset the clock."""

    help = (
        "Show, advance, stop, or reset the marketplace's clock. Events that become due while the clock advances "
        "happen in order: deadlines, expiry, automatic approval, disposal. Needs MARKETPLACE_DEVELOPMENT=1. "
        "Example: manage.py marketplace_clock --advance 3600"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument(
            "--advance",
            metavar="DURATION",
            help="time to advance the clock by, such as 3600 (seconds), 01:00:00 or 31 00:00:00 (days)",
        )
        parser.add_argument("--freeze", action="store_true", help="stop the clock at its current time")
        parser.add_argument("--reset", action="store_true", help="return the clock to the real time")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the requested action and print the time."""
        if not settings.MARKETPLACE_DEVELOPMENT:
            raise CommandError("marketplace_clock works only with MARKETPLACE_DEVELOPMENT=1")
        prepare()
        if options["reset"]:
            clock_reset()
        if options["freeze"]:
            clock_freeze(at=clock.now())
        if options["advance"]:
            by = parse_duration(options["advance"])
            if by is None or by.total_seconds() < 0:
                raise CommandError(
                    f"--advance must be seconds (3600), HH:MM:SS or DAYS HH:MM:SS, not {options['advance']!r}"
                )
            clock_advance(by=by)
        due, sent = sweep()
        self.stdout.write(f"{_shown(clock.now())}  ({due} steps, {sent} notifications sent)")


def _shown(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M:%S UTC")
