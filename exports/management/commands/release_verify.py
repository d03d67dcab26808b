"""``manage.py release_verify``: check a release's folder."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from documents.management.reading import ReadingCommand
from exports.released.folder import FolderError, ReleasedFolder, shown
from exports.released.verify import problems
from storage.json_output import json_line


class Command(ReadingCommand):
    """Check that a release is whole and unchanged."""

    help = (
        "Check that the folder of a release contains all its files unchanged and no others, and that its tables "
        "match the manifest. The command fails if it finds any problem. No database is needed. Example: manage.py"
        " release_verify out/"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("folder", type=Path, metavar="DIR", help="the folder of the release")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Check, print, and fail if anything is wrong."""
        try:
            folder = ReleasedFolder(options["folder"])
            found = [{"file": name, "problem": what} for name, what in problems(folder)]
        except FolderError as error:
            raise CommandError(str(error)) from error
        files = len(folder.manifest["files"])
        if options["json"]:
            self.stdout.write(json_line({"valid": not found, "files": files, "problems": found}))
        else:
            for row in found:
                self.stdout.write(shown(f"{row['file']}: {row['problem']}"))
        if found:
            raise CommandError(f"{len(found)} problems found")
        if not options["json"]:
            self.stdout.write(f"{files} files and {len(folder.tables)} tables: complete and unchanged")
