"""``manage.py release_verify``: check a release's folder."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from documents.management.reading import ReadingCommand
from exports.released.folder import FolderError, ReleasedFolder, shown
from exports.released.verify import problems
from exports.selectors.certificates import FOLDER
from quality.certificates.checks import problems as certificate_problems
from quality.certificates.checks import state_of
from quality.certificates.entries import RECORD, RecordError
from quality.certificates.record import Record
from storage.json_output import json_line


class Command(ReadingCommand):
    """Check that a release is whole and unchanged."""

    help = (
        "Check that the folder of a release contains all its files unchanged and no others, and that its tables "
        "match the manifest. The command fails if it finds any problem. No database is needed. Example: manage.py"
        " release_verify out/. With --certificate, the folder is that of a certificate (see certify), or a release with one: labels, seed, order, "
        "judgments, result, and signature are recomputed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("folder", type=Path, metavar="DIR", help="the folder of the release")
        parser.add_argument("--certificate", action="store_true", help="check the folder of a certificate of labels")
        parser.add_argument(
            "--head",
            default="",
            metavar="HASH",
            help="with --certificate: the hash that was published before the draw",
        )
        parser.add_argument("--key", default="", help="with --certificate: the public key that has to have signed it")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Check, print, and fail if anything is wrong."""
        if options["certificate"]:
            self._certificate(options)
            return
        try:
            folder = ReleasedFolder(options["folder"])
            found = [{"file": name, "problem": what} for name, what in problems(folder)]
            if (folder.path / FOLDER).is_dir():
                found += _of_certificate(Record(folder.path / FOLDER), folder.manifest.get("certificate") or {})
        except (FolderError, RecordError) as error:
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

    def _certificate(self, options: dict[str, Any]) -> None:
        try:
            folder: Path = options["folder"]
            record = Record(folder / FOLDER if (folder / FOLDER).is_dir() else folder)
            found = [{"file": place, "problem": what} for place, what in certificate_problems(record)]
            found += _other_than_published(record, options["head"], options["key"])
            state = None if found else state_of(record)
        except RecordError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json_line({"valid": not found, "problems": found, **(asdict(state) if state else {})}))
        else:
            for row in found:
                self.stdout.write(shown(f"{row['file']}: {row['problem']}"))
        if state is None:
            raise CommandError(f"{len(found)} problems found")
        if not options["json"]:
            self.stdout.write(
                f"{state.outcome}: {state.judged:,} of {state.size:,} labels judged, {state.wrong:,} wrong; at most "
                f"{100 * state.error:.6g}% at a risk of {100 * state.risk:.6g}%; all of it recomputed"
            )


def _of_certificate(record: Record, stated: dict[str, Any]) -> list[dict[str, str]]:
    """Return the problems of a release's certificate: of its record, and where the manifest states something else."""
    found = [
        {"file": f"{FOLDER}/{RECORD}", "problem": f"{place}: {what}"} for place, what in certificate_problems(record)
    ]
    if found:
        return found
    state = asdict(state_of(record)) | {"seed": record.first("drawn")["seed"]}
    state |= {"labels": state["size"]}
    return [
        {"file": f"{FOLDER}/{RECORD}", "problem": f"{name} isn't {stated.get(name)!r}, as the manifest says"}
        for name in ("published", "key", "error", "risk", "labels", "judged", "wrong", "seed")
        if state[name] != stated.get(name)
    ]


def _other_than_published(record: Record, head: str, key: str) -> list[dict[str, str]]:
    """Return a problem for each published value that isn't that of the record.

    A record that is whole may still be another one than was published.
    """
    found = []
    if head and head.lower() != record.published:
        found.append({"file": RECORD, "problem": f"its first line doesn't have the published hash {head}"})
    if key and not (record.has("signed") and record.first("signed")["key"] == key):
        found.append({"file": RECORD, "problem": f"isn't signed by the key {key}"})
    return found
