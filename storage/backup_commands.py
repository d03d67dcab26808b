"""The backup commands, shared by both services; the settings of each service say what its backup contains."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from storage.backups import BackupError, backup_save, backup_write, restore


class BackupCommand(BaseCommand):
    """Write a backup."""

    help = (
        "Write a backup (database, documents, uploads of queued jobs, releases, keys, hashes) into a folder, or to "
        "standard output with -. People can go on working. It holds names and keys: encrypt what leaves the machine. "
        "Example: manage.py backup - | age -r RECIPIENT > quorate.tar.age"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the argument."""
        parser.add_argument("target", metavar="DIR", help="output folder, or - for standard output")
        parser.add_argument(
            "--keep",
            type=int,
            default=0,
            metavar="N",
            help="keep the N newest backups in the folder, and delete older ones once this one is written",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the backup and print its path."""
        now = timezone.now().isoformat(timespec="seconds")
        if options["keep"] < 0:
            raise CommandError("--keep must be at least 1, or 0 to keep all backups")
        try:
            if options["target"] == "-":
                manifest, place = backup_write(sys.stdout.buffer, now=now), "standard output"
                sys.stdout.buffer.flush()
            else:
                path, manifest = backup_save(Path(options["target"]), now=now, keep=options["keep"])
                place = str(path)
        except BackupError as error:
            raise CommandError(str(error)) from error
        except OSError as error:  # a full disk, no permission, a closed pipe
            raise CommandError(f"the backup wasn't written: {error.strerror or error}") from error
        self.stderr.write(f"{len(manifest['files'])} files written to {place}")


class RestoreCommand(BaseCommand):
    """Restore a backup."""

    help = (
        "Restore a backup from a file, or from standard input with -. The database and the data folder must be empty; "
        "everything is compared with the hashes in the backup before anything is put in place. Queued jobs go on when "
        "a worker runs. Example: manage.py restore quorate-20261122T101500Z.tar"
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the argument."""
        parser.add_argument("source", metavar="FILE", help="backup file, or - for standard input")

    def handle(self, *args: Any, **options: Any) -> None:
        """Restore the backup and print its contents."""
        try:
            if options["source"] == "-":
                manifest = restore(sys.stdin.buffer)
            else:
                with Path(options["source"]).open("rb") as stream:
                    manifest = restore(stream)
        except BackupError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            raise CommandError(f"nothing was restored: {place}{error.strerror or error}") from error
        self.stderr.write(f"{len(manifest['files'])} files of {manifest['made_at']} restored and verified")
        if manifest["aside"] is not None:
            self.stderr.write(
                f"What an interrupted restore had left was moved to {manifest['aside']}. Delete it once you have checked "
                "the installation."
            )
        if not manifest["is_same_key"]:
            self.stderr.write(
                "The current SECRET_KEY differs from that of the backup, so earlier sessions and links to "
                "visits and statements don't work. To keep them, use the SECRET_KEY in keys.json of the "
                "backup."
            )
