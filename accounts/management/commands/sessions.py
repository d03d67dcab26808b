"""``manage.py sessions``: who is logged in, and logging people out."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from accounts.audit import record
from accounts.identities import sessions_end, sessions_of
from accounts.models import User


class Command(BaseCommand):
    """List sessions by person, or end those of one."""

    help = (
        "List who is logged in, with the number of their sessions and when the last one ends. --end logs a person out "
        "everywhere at once. Example: manage.py sessions --end anna@example.org"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("--end", default="", metavar="EMAIL", help="log this person out everywhere")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the sessions, or end them."""
        now = timezone.now()
        if not options["end"]:
            for user, expiries in sorted(sessions_of(now).items(), key=lambda one: one[0].email):
                ends = f"{max(expiries):%Y-%m-%d %H:%M} UTC"
                self.stdout.write(f"{user.email}: {len(expiries)}, the last one ends on {ends}")
            return
        person = User.objects.filter(email__iexact=options["end"]).first()
        if person is None:
            raise CommandError(f"there is no account with the address {options['end']}")
        with transaction.atomic():
            ended = sessions_end(person, now)
            record(action="sessions_end", subject=person, now=now, actor_id=None, sessions=ended)
        self.stdout.write(f"{person.email}: {ended} sessions ended")
