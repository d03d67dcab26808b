"""``manage.py release_revote``: compute the labels of a release again."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from documents.management.reading import ReadingCommand
from evaluation.files import EvaluationError
from evaluation.relevance.report import MEASURES
from evaluation.relevance.reranked import Reranked, reranked
from exports.released.folder import FolderError, ReleasedFolder, shown
from exports.released.revote import Revote, Revoted, revote
from storage.json_output import json_line

SHOWN = 20


class Command(ReadingCommand):
    """Recompute labels from the released votes alone."""

    help = (
        "Recompute the labels of a release from its votes, under another policy or without an annotator or a "
        "batch, and show which labels change. Policies: majority (of the first round), second (else a majority of"
        " the second round, else the expert), pooled (else most votes of both rounds, else the expert), plurality"
        " (most votes of the first round, else the expert), all (the expert, else most votes of both rounds), "
        "dawid-skene (the most probable label). Removed votes leave their slots empty, and items that would have "
        "needed further votes are undecided. No database is needed. Example: manage.py release_revote out/ "
        "--policy pooled"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("folder", type=Path, metavar="DIR", help="the folder of the release")
        parser.add_argument(
            "--policy",
            required=True,
            choices=[one.value for one in Revote],
            help="policy for deriving labels from votes",
        )
        parser.add_argument(
            "--without",
            action="append",
            default=[],
            metavar="PSEUDONYM",
            help="leave out the votes of this annotator; repeatable",
        )
        parser.add_argument(
            "--without-batch",
            action="append",
            default=[],
            type=int,
            metavar="N",
            help="leave out the items of this batch; repeatable",
        )
        parser.add_argument(
            "--run",
            nargs="+",
            type=Path,
            default=[],
            metavar="FILE",
            help="runs in TREC format to rank by the released and the recomputed labels (releases of pairs only)",
        )
        parser.add_argument(
            "--measure",
            default="nDCG@10",
            choices=list(MEASURES),
            help="measure by which to rank the runs (default nDCG@10)",
        )
        parser.add_argument(
            "--to",
            type=Path,
            metavar="FILE",
            help="write the recomputed labels to this file, as item_id and label separated by tabs",
        )
        parser.add_argument("--json", action="store_true", help="print all changes as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Compute, compare, print."""
        try:
            folder = ReleasedFolder(options["folder"])
            _refuse_unknown(folder, options["without"])
            found = revote(
                folder,
                Revote(options["policy"]),
                without=set(options["without"]),
                without_batches=set(options["without_batch"]),
            )
            ranks = (
                reranked(folder, found.released, found.labels, options["run"], options["measure"])
                if options["run"]
                else []
            )
        except (FolderError, EvaluationError) as error:
            raise CommandError(str(error)) from error
        if options["to"]:
            rows = (f"{shown(item)}\t{shown(label)}\n" for item, label in found.labels.items() if label is not None)
            try:
                options["to"].write_text("".join(rows), encoding="utf-8")
            except OSError as error:
                raise CommandError(f"{options['to']}: {error}") from error
        self.stdout.write(json_line(_as_data(found, ranks)) if options["json"] else _text(found, ranks))


def _refuse_unknown(folder: ReleasedFolder, without: list[str]) -> None:
    unknown = (
        set(without) - {row["annotator"] for row in folder.rows("annotators", ("annotator",))} if without else set()
    )
    if unknown:
        raise FolderError(f"this release has no annotators with the ids {', '.join(sorted(unknown))}")


def _as_data(found: Revoted, ranks: list[Reranked]) -> dict[str, Any]:
    changes = [{"item_id": one.item_id, "before": one.before, "after": one.after} for one in found.changes]
    return {
        "items": len(found.labels),
        "changes": changes,
        "undecided": found.undecided,
        "runs": [asdict(one) for one in ranks],
    }


def _text(found: Revoted, ranks: list[Reranked]) -> str:
    lines = [
        (
            f"{len(found.labels):,} items: {len(found.labels) - len(found.changes):,} as released, "
            f"{len(found.changes):,} otherwise, {len(found.undecided):,} of these undecided"
        ),
        *(
            shown(f"  {one.item_id}: {one.before} → {one.after if one.after is not None else 'undecided'}")
            for one in found.changes[:SHOWN]
        ),
    ]
    if len(found.changes) > SHOWN:
        lines.append(f"  … and {len(found.changes) - SHOWN:,} more (--json lists all)")
    lines += [
        shown(f"  {one.run}: {one.before:.4f} → {one.after:.4f}, place {one.rank_before} → {one.rank_after}")
        for one in ranks
    ]
    return "\n".join(lines)
