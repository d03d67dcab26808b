"""``manage.py doctor``: what is wrong with this installation, and what to do."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from console.doctor import examine
from storage.json_output import json_line


class Command(BaseCommand):
    """Examine the installation."""

    help = (
        "Examine this installation: settings, versions, database, workers, files, email, the public address with its "
        "certificate, the marketplace, and the age of the last backup. It names each problem and what to do, and ends "
        "with an error if there is one. It changes nothing but a small file in each storage, which it deletes. "
        "Example: manage.py doctor --backups /srv/backups"
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument(
            "--backups", type=Path, metavar="DIR", help="folder of backups, to check the age of the last"
        )
        parser.add_argument("--json", action="store_true", help="print the findings as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print each area with its problems."""
        found = []
        for area, findings in examine(timezone.now(), options["backups"]):
            found += findings
            if options["json"]:
                continue
            if not findings:
                self.stdout.write(f"ok       {area}")
            for one in findings:
                self.stdout.write(f"{'warning' if one.is_warning else 'PROBLEM'}  {area}: {one.problem}")
                if one.remedy:
                    self.stdout.write(f"         {one.remedy}")
        if options["json"]:
            self.stdout.write(json_line([asdict(one) for one in found]))
        problems = sum(not one.is_warning for one in found)
        if problems:
            raise CommandError(f"{problems} problem{'s' if problems > 1 else ''} found")
