"""``manage.py demo_archives``: recreate the archives of the demo's finished campaigns."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from annotation.models import Campaign
from jobs.terminal import prepare_database
from replays.demo.finished import HERE, write_finished


class Command(BaseCommand):
    """Create the finished campaigns and write their archives."""

    help = (
        "Let synthetic crowds complete the two finished campaigns of the demo, and write the archives that `demo`"
        " loads. Run this command after a migration; it takes a minute. The installation must be empty: `make "
        "demo-archives` uses a temporary one. Example: QUORATE_DATA=$(mktemp -d) manage.py demo_archives"
    )

    def handle(self, *args: Any, **options: Any) -> None:
        """Create and write the archives."""
        settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
        prepare_database()
        if Campaign.objects.exists():
            raise CommandError(
                "this installation isn't empty; use a temporary one: QUORATE_DATA=$(mktemp -d) manage.py demo_archives"
            )
        write_finished(stderr=self.stderr)
        self.stdout.write(f"New archives written to {HERE}.")
