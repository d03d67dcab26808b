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
        "Freeze the annotations of a release and write its files. The shards have the names that the official "
        "tools expect. The folder tables/ contains every annotation, label, item, and annotator as typed tables "
        "(Parquet and JSON lines). A data card is included. Example: manage.py release earth --format nq-original"
        " --ways 5 --to out/"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("campaign", metavar="SLUG", help="the short name of the campaign")
        form = parser.add_mutually_exclusive_group(required=True)
        form.add_argument("--format", choices=list(FAMILIES), help="the format of the records")
        form.add_argument(
            "--again", type=int, metavar="NUMBER", help="number of an earlier release to write again, byte for byte"
        )
        parser.add_argument(
            "--ways",
            type=int,
            metavar="N",
            help="annotations per item, from slots 0 to N-1 (Natural Questions formats only)",
        )
        parser.add_argument(
            "--to", required=True, type=Path, metavar="DIR", help="output folder, which must be empty or not exist yet"
        )
        order = parser.add_mutually_exclusive_group()
        order.add_argument("--seed", type=int, default=0, help="seed for the order of the records (default 0)")
        order.add_argument("--as-imported", action="store_true", help="keep the order in which the items were imported")
        parser.add_argument(
            "--split", action="append", default=[], metavar="NAME", help="include only this split; repeatable"
        )
        parser.add_argument("--shards", type=int, default=1, help="files per split (default 1)")
        parser.add_argument(
            "--license",
            "--licence",  # of version 0.2.0
            dest="licence",
            default="",
            metavar="SPDX",
            help="license of the dataset as an SPDX identifier, for the data card and the manifest",
        )
        parser.add_argument(
            "--author",
            action="append",
            default=[],
            metavar="NAME",
            help="author to cite, as 'Family, Given' for a person; repeatable",
        )
        parser.add_argument(
            "--labels-only",
            action="store_true",
            help="omit the labeled texts, if you aren't licensed to redistribute them",
        )
        parser.add_argument(
            "--generated",
            type=Path,
            metavar="FILE",
            help="generated questions to mix into sealed splits, one per line (kbqa)",
        )
        parser.add_argument(
            "--baselines",
            type=Path,
            metavar="DIR",
            help="folder from `baseline table`, whose results table is added to the data card",
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
                f"{str(error).rstrip('.')}. The release in {options['to']} is incomplete: delete the folder and run the command again"
            ) from error
        items = sum(manifest["splits"].values())
        if not items:
            self.stderr.write("This release is empty because no item was complete when it was created.")
        summary = f"{items} items written to {options['to']}, {manifest['shortfall']} are not ready and were left out"
        print_result(self.stdout, manifest, as_json=options["json"], summary=summary)


def _wanted(campaign: Campaign, options: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `release_freeze`."""
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
    release = Release.objects.select_related("campaign", "job").filter(campaign=campaign, number=number).first()
    if release is None:
        raise CommandError(f"{campaign.slug} has no release {number}")
    closed = closed_by(release)
    if closed:
        raise CommandError(
            f"release {number} contains labels of {', '.join(closed)}, which was sealed later, so the release can't be written again"
        )
    return release
