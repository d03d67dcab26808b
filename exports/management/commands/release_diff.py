"""``manage.py release_diff``: compare two releases."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from documents.management.reading import ReadingCommand
from exports.released.diff import difference
from exports.released.folder import FolderError, ReleasedFolder, shown
from storage.json_output import json_line

SHOWN = 10


class Command(ReadingCommand):
    """List the differences between two releases."""

    help = (
        "Compare the folders of two releases, and list added, removed, and changed items. A changed item has "
        "another label or, in releases without labels, other annotations. No database is needed. Example: "
        "manage.py release_diff first/ second/"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("before", type=Path, metavar="BEFORE", help="the folder of the earlier release")
        parser.add_argument("after", type=Path, metavar="AFTER", help="the folder of the later release")
        parser.add_argument("--json", action="store_true", help="print the full comparison as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Compare and print."""
        try:
            found = difference(ReleasedFolder(options["before"]), ReleasedFolder(options["after"]))
        except FolderError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            changed = [{"item_id": item, "before": old, "after": new} for item, old, new in found.changed]
            said = {"added": found.added, "removed": found.removed, "changed": changed}
            self.stdout.write(json_line(said))
            return
        changes = [f"{item}: {old} → {new}" for item, old, new in found.changed]
        for name, rows in (("added", found.added), ("removed", found.removed), ("changed", changes)):
            self.stdout.write(f"{len(rows):,} items {name}")
            for row in rows[:SHOWN]:
                self.stdout.write(f"  {shown(row)}")
            if len(rows) > SHOWN:
                self.stdout.write(f"  … and {len(rows) - SHOWN:,} more (--json lists all)")
