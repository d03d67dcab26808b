"""``manage.py archive_import``: import an archived campaign into an empty installation."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from console.archives.reading import archive_read
from console.archives.tables import ArchiveError
from jobs.terminal import prepare_database, print_result


class Command(BaseCommand):
    """Import an archive."""

    help = (
        "Import an archived campaign into an empty installation. All data is first checked against the hashes in "
        "the archive, and is imported completely or not at all. People keep their roles under their email "
        "addresses and must request new passwords. The import makes nobody an administrator. Example: manage.py "
        "archive_import earth.tar"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("file", metavar="FILE", help="an archive, or - for standard input")
        parser.add_argument("--json", action="store_true", help="print the manifest as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import the archive and report its contents."""
        prepare_database()
        try:
            if options["file"] == "-":
                manifest = archive_read(sys.stdin.buffer, now=timezone.now())
            else:
                with Path(options["file"]).open("rb") as stream:
                    manifest = archive_read(stream, now=timezone.now())
        except (ArchiveError, OSError) as error:
            raise CommandError(str(error)) from error
        rows = sum(table["rows"] for table in manifest["tables"].values())
        summary = f"{rows:,} rows of {manifest['campaign']} are here. Release it again: manage.py release {manifest['campaign']} --again NUMBER --to DIR"
        print_result(self.stdout, manifest, as_json=options["json"], summary=summary)
