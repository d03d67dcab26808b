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
        "Show the marketplace's clock; advance it, stop it, or set it right again. What falls due on the way happens in "
        "order: deadlines, expiry, automatic approval, disposal. Needs MARKETPLACE_DEVELOPMENT=1. "
        "Example: manage.py marketplace_clock --advance 3600"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument(
            "--advance", metavar="DURATION", help="such as 3600 (seconds), 01:00:00 or 31 00:00:00 (days)"
        )
        parser.add_argument("--freeze", action="store_true", help="stop it where it is")
        parser.add_argument("--reset", action="store_true", help="back to the real time")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do what was asked and print the time."""
        if not settings.MARKETPLACE_DEVELOPMENT:
            raise CommandError("the clock can be moved with MARKETPLACE_DEVELOPMENT=1 only")
        prepare()
        if options["reset"]:
            clock_reset()
        if options["freeze"]:
            clock_freeze(at=clock.now())
        if options["advance"]:
            by = parse_duration(options["advance"])
            if by is None or by.total_seconds() < 0:
                raise CommandError(
                    f"--advance takes seconds (3600), HH:MM:SS or DAYS HH:MM:SS, not {options['advance']!r}"
                )
            clock_advance(by=by)
        due, sent = sweep()
        self.stdout.write(f"{_shown(clock.now())}  ({due} steps, {sent} notifications sent)")


def _shown(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M:%S UTC")
