"""``manage.py release_paper``: write a release's tables and methods text for a paper."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from documents.management.reading import ReadingCommand
from exports.released.deposit import deposit_write
from exports.released.folder import FolderError, ReleasedFolder
from exports.released.paper import methods_tex, tables_tex
from storage.json_output import json_line


class Command(ReadingCommand):
    """Write tables, a methods paragraph and a deposit archive."""

    help = (
        "Write files for a paper from the folder of a release. tables.tex contains tables, methods.tex a "
        "paragraph on how the release was made, and deposit.zip all files of the release. With --anonymous, the "
        "descriptive files in the deposit name no author, email address, or host. No database is needed. Example:"
        " manage.py release_paper out/ --to paper/"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("folder", type=Path, metavar="DIR", help="the folder of the release")
        parser.add_argument(
            "--to", type=Path, required=True, metavar="DIR", help="output folder, which must be empty or not exist yet"
        )
        parser.add_argument(
            "--baselines",
            type=Path,
            metavar="DIR",
            help="folder from `baseline table`, whose results table is added to tables.tex",
        )
        parser.add_argument(
            "--anonymous",
            action="store_true",
            help="omit authors, email addresses, and hosts from the deposit's descriptive files, for an anonymous review",
        )
        parser.add_argument("--json", action="store_true", help="print the list of written files as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Read the release, write the files, and print their names."""
        to: Path = options["to"]
        try:
            folder = ReleasedFolder(options["folder"])
            texts = {"tables.tex": tables_tex(folder), "methods.tex": methods_tex(folder)}
            if options["baselines"]:
                texts["tables.tex"] += "\n" + (options["baselines"] / "table.tex").read_text(encoding="utf-8")
            _make_empty(to)
            for name, text in texts.items():
                (to / name).write_text(text, encoding="utf-8")
            files = deposit_write(folder, to / "deposit.zip", anonymous=options["anonymous"])
        except (FolderError, OSError) as error:
            raise CommandError(str(error)) from error
        written = [*texts, "deposit.zip"]
        text = f"{', '.join(written)} written to {to}; the deposit has {files} files"
        self.stdout.write(json_line({"written": written, "files": files}) if options["json"] else text)


def _make_empty(folder: Path) -> None:
    """Create a folder, or accept an empty one."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FolderError(f"{folder} isn't empty")
    folder.mkdir(parents=True, exist_ok=True)
