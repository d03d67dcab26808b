"""``manage.py workforce_hooks``: have the other side notify this installation."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from workforces.kinds.base import NotConfigured, Refused, Unreachable
from workforces.kinds.registry import KINDS


class Command(BaseCommand):
    """Create the secret of the notifications, then subscribe."""

    help = (
        "Have Prolific notify this installation, so that changes arrive within seconds instead of half a minute. First "
        "run it without --subscribe: it creates a secret for PROLIFIC_HOOK_SECRET, which replaces the workspace's "
        "earlier one. Restart with it, then run it with --subscribe. Example: manage.py workforce_hooks prolific "
        "--subscribe"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("kind", choices=[key for key, kind in KINDS.items() if kind.has_hooks], help="who notifies")
        parser.add_argument("--subscribe", action="store_true", help="subscribe, once the secret is set")

    def handle(self, *args: Any, **options: Any) -> None:
        """Create the secret, or subscribe."""
        try:
            self.stdout.write(KINDS[options["kind"]].hooks(subscribe=options["subscribe"]))
        except (NotConfigured, Refused, Unreachable) as error:
            raise CommandError(str(error)) from error
