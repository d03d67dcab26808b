"""``manage.py archive``: one campaign, with everything that belongs to it, in a file."""

import fcntl
import os
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation.management.campaigns import campaign_named
from console.archives.tables import ArchiveError
from console.archives.writing import archive_write
from jobs.terminal import print_result


class Command(BaseCommand):
    """Write an archive of a campaign."""

    help = (
        "Write a campaign with all its data (pages, items, answers, people, quality control, ledgers, and "
        "releases with their files) to one file. An empty installation of the same version can import the file, "
        "with any database. The file is private: it contains names, email addresses, and the keys of pseudonyms. "
        "The campaign must be paused or closed, without unfinished jobs, payments, or postings. Example: "
        "manage.py archive earth earth.tar"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("campaign", metavar="SLUG", help="the short name of the campaign")
        parser.add_argument("file", metavar="FILE", help="file to write, or - for standard output")
        parser.add_argument(
            "--json", action="store_true", help="print the manifest as JSON, to standard error if FILE is -"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the archive and report its contents."""
        campaign, out = campaign_named(options["campaign"]), self.stdout
        try:
            if options["file"] == "-":
                manifest, out = archive_write(campaign, sys.stdout.buffer, now=timezone.now()), self.stderr
                sys.stdout.buffer.flush()
            else:
                manifest = _save(campaign, Path(options["file"]))
        except (ArchiveError, OSError) as error:
            raise CommandError(str(error)) from error
        rows = sum(table["rows"] for table in manifest["tables"].values())
        summary = f"{rows:,} rows and {len(manifest['files']):,} files of {campaign.slug} archived"
        print_result(out, manifest, as_json=options["json"], summary=summary)


def _save(campaign: Any, path: Path) -> dict[str, Any]:
    """Write a file completely or not at all, and never overwrite one."""
    if path.exists():
        raise ArchiveError(f"{path} already exists; choose another file name")
    part = path.with_name(f".{path.name}.part")
    with part.open("ab") as stream:  # of one that was killed: Linux let its lock go
        try:
            fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ArchiveError(f"another archive is being written to {path}") from error
        try:
            stream.truncate(0)
            manifest = archive_write(campaign, stream, now=timezone.now())
            stream.flush()
            os.fsync(stream.fileno())
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    return manifest
