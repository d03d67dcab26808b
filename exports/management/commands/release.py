"""``manage.py release``: export a dataset."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation.management.campaigns import campaign_named
from annotation.models import Campaign
from exports.errors import ReleaseError
from exports.families import FAMILIES
from exports.models import Release
from exports.selectors.sealing import closed_by
from exports.services import BuildError, release_make, release_rewrite
from exports.targets import FolderTaken, FolderTarget
from jobs.terminal import print_result
from storage.text_files import FileFault, text_lines


class Command(BaseCommand):
    """Freeze a release and write its files into a folder."""

    help = (
        "Freeze which annotations are in a release and write it: shards as the official tools name them, and in "
        "tables/ every annotation, label, item and annotator as typed tables (Parquet and JSON lines), with a data card. "
        "Example: manage.py release earth --format nq-original --ways 5 --to out/"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("campaign", metavar="SLUG", help="the short name of the campaign")
        form = parser.add_mutually_exclusive_group(required=True)
        form.add_argument("--format", choices=list(FAMILIES), help="the format of the records")
        form.add_argument(
            "--again", type=int, metavar="NUMBER", help="write a release that was made before once more: the same bytes"
        )
        parser.add_argument(
            "--ways", type=int, metavar="N", help="annotations per item: slots 0 to N-1 (formats of NQ)"
        )
        parser.add_argument("--to", required=True, type=Path, metavar="DIR", help="the folder to write, empty or new")
        order = parser.add_mutually_exclusive_group()
        order.add_argument("--seed", type=int, default=0, help="of the order of the records (default 0)")
        order.add_argument("--as-imported", action="store_true", help="keep the order in which the items were imported")
        parser.add_argument("--split", action="append", default=[], metavar="NAME", help="only this split; repeatable")
        parser.add_argument("--shards", type=int, default=1, help="files a split (default 1)")
        parser.add_argument(
            "--license",
            "--licence",  # of version 0.2.0
            dest="licence",
            default="",
            metavar="SPDX",
            help="SPDX identifier for the card and the manifest",
        )
        parser.add_argument(
            "--author",
            action="append",
            default=[],
            metavar="NAME",
            help="who is to be cited, a person as 'Family, Given'; repeatable",
        )
        parser.add_argument(
            "--labels-only",
            action="store_true",
            help="leave out the texts that were labelled, where they may not be handed on",
        )
        parser.add_argument(
            "--generated",
            type=Path,
            metavar="FILE",
            help="questions that a program made, a line each, to be mixed into sealed splits (kbqa)",
        )
        parser.add_argument(
            "--baselines",
            type=Path,
            metavar="DIR",
            help="put the table of results that `baseline table` wrote there on the card",
        )
        parser.add_argument("--json", action="store_true", help="print the manifest as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Freeze, write, report."""
        campaign = campaign_named(options["campaign"])
        try:
            target = FolderTarget(options["to"])
        except FolderTaken as error:
            raise CommandError(str(error)) from error

        def progress(done: int, total: int, name: str, files: dict[str, Any]) -> None:
            self.stderr.write(f"{done:,} of {total:,} items  {name}")

        try:
            if options["again"] is None:
                manifest = release_make(target=target, progress=progress, **_wanted(campaign, options))
            else:
                release = _made_before(campaign, options["again"])
                manifest = release_rewrite(release=release, target=target, progress=progress)
        except ReleaseError as error:
            raise CommandError(str(error)) from error
        except BuildError as error:
            raise CommandError(
                f"{str(error).rstrip('.')}. {options['to']} holds no release: remove it, and release again"
            ) from error
        items = sum(manifest["splits"].values())
        if not items:
            self.stderr.write("This release is empty because no item was complete when it was created.")
        summary = f"{items} items written to {options['to']}, {manifest['shortfall']} are not ready and were left out"
        print_result(self.stdout, manifest, as_json=options["json"], summary=summary)


def _wanted(campaign: Campaign, options: dict[str, Any]) -> dict[str, Any]:
    """Return what to release, as `release_freeze` takes it."""
    return {
        "campaign": campaign,
        "family": options["format"],
        "ways": options["ways"],
        "splits": options["split"],
        "seed": None if options["as_imported"] else options["seed"],
        "shards": options["shards"],
        "actor_id": None,
        "now": timezone.now(),
        "licence": options["licence"],
        "authors": options["author"],
        "labels_only": options["labels_only"],
        "generated": _lines(options["generated"]),
        "baselines": "\n".join(_lines(options["baselines"] and options["baselines"] / "table.md")),
    }


def _lines(path: Path | None) -> list[str]:
    try:
        return [text for _number, text in text_lines(path)] if path else []
    except FileFault as error:
        raise CommandError(str(error)) from error


def _made_before(campaign: Campaign, number: int) -> Release:
    release = Release.objects.select_related("campaign").filter(campaign=campaign, number=number).first()
    if release is None:
        raise CommandError(f"{campaign.slug} has no release {number}")
    closed = closed_by(release)
    if closed:
        raise CommandError(f"release {number} contains labels of {', '.join(closed)}, which was sealed later")
    return release
