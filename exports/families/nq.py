"""Releases of Natural Questions campaigns: the annotations of the first slots, in the official files."""

from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.db import connection

from annotation.models import Campaign, Split
from documents.html.published_rules import Checker
from exports.errors import ReleaseError
from exports.formats.annotations import OF_ANNOTATIONS
from exports.formats.nq import RECORDS, shard_name
from exports.formats.tables import Table
from exports.formats.tells import Tells
from exports.models import Release
from exports.selectors.members import item_order, released_items, shard_of
from exports.targets import Progress, Target
from exports.writers.lines import LinesFile, WrittenFile
from exports.writers.tables import TableFiles


class NaturalQuestionsFamily:
    """One official format."""

    task_type: str | None = "nq"
    takes_ways = True
    has_labels_alone = False  # a record is its page
    is_shuffled = True
    takes_generated = False
    tells: tuple[Tells, ...] = (Tells.ANNOTATIONS,)

    def __init__(self, key: str) -> None:
        self.key = key

    def ways(self, campaign: Campaign, asked: int | None) -> int:
        """Return the number of annotations per item in the release."""
        if asked is None:
            raise ReleaseError("release_ways_missing")
        return asked

    def tables(self, release: Release) -> dict[str, Any]:
        """Return the annotation tables, one for each shard."""
        told = [split for split in release.splits if split not in release.sealed]
        parts = (_table(split, shard) for split in told for shard in range(release.shards))
        return {part.key: part.described() for part in parts}

    def freeze(self, release: Release, splits: list[Split]) -> None:
        """Choose the annotations of the release: slots 0 to ``ways`` - 1 of the first round."""
        _freeze_rows(release, [split.pk for split in splits])

    def write(
        self, release: Release, folder: Path, target: Target, progress: Progress, files: dict[str, Any]
    ) -> dict[str, int]:
        """Write the files that aren't finished yet; return the items of each split."""
        orders = {split: item_order(release, split) for split in release.splits}
        total = sum(map(len, orders.values()))
        done = 0
        for split, order in orders.items():
            for shard in range(release.shards):
                part = shard_of(release, order, shard)
                name = shard_name(release.family, split, shard, release.shards)
                table = None if split in release.sealed else _table(split, shard)
                if not all(one in files for one in (name, *(table.files if table else ()))):
                    written = _write_shard(release, name, table, part, folder, target)
                    files |= {one: asdict(file) for one, file in written.items()}
                done += len(part)
                progress(done, total, name, files)
        return {split: len(order) for split, order in orders.items()}


def _table(split: str, shard: int) -> Table:
    """Return the table that accompanies a shard; its rows are collected while the records are written."""
    meaning = "One row an annotation of a record, in the order of the shard: what the official formats say of it, and the words."
    return Table(f"annotations-{split}-{shard:02d}", meaning, OF_ANNOTATIONS, lambda: iter(()), group="annotations")


def _write_shard(
    release: Release, name: str, table: Table | None, item_ids: list[int], folder: Path, target: Target
) -> dict[str, WrittenFile]:
    """Write a shard and its annotation table in one pass; a sealed shard has no annotations."""
    record, checker = RECORDS[release.family], Checker()
    parts = {file: folder / str(number) for number, file in enumerate((*(table.files if table else ()), name))}
    rows = TableFiles(table, *(parts[file] for file in table.files)) if table else None
    with rows or nullcontext(), LinesFile(parts[name]) as records:
        for item in released_items(release, item_ids):
            made = record(item.example, item.annotations if rows else [])
            _check(checker, made)
            records.write(made)
            if rows is not None:
                for row in item.rows:
                    rows.write(row)
    written = dict(zip(parts, (*(rows.finished() if rows else ()), records.finished()), strict=True))
    for file, part in parts.items():
        target.put(file, part)
    return written


def _check(checker: Checker, record: dict[str, Any]) -> None:
    """Reject a record that breaks a rule of the format; its unfinished file isn't published.

    Raises
    ------
    ValueError
        The message names the item and the problem.
    """
    wrong = next(checker.problems(record), None)
    if wrong is not None:
        raise ReleaseError(
            "release_breaks_format", item=str(record["example_id"]), field=str(wrong[0]), problem=str(wrong[1])
        )


# Two statements, whatever the size. The first alone decides what is in; the second lists everything else.
_COUNTED = """
    FROM annotation_annotation a
    JOIN annotation_slot s ON s.id = a.slot_id AND s.round = 1 AND s.index < %(ways)s
    JOIN annotation_item i ON i.id = a.item_id AND i.state = 'active'
    JOIN annotation_batch b ON b.id = i.batch_id AND b.purpose IN ('work', 'study')
    WHERE a.state = 'counted' AND i.campaign_id = %(campaign)s AND i.split_id IN ({splits})
"""
_MEMBERS = """
    INSERT INTO exports_releasemember (release_id, item_id, annotation_id, rank)
    SELECT %(release)s, a.item_id, a.id, s.index {counted}
    AND a.item_id IN (SELECT a.item_id {counted} GROUP BY a.item_id HAVING COUNT(*) = %(ways)s)
"""
_SHORTFALL = """
    INSERT INTO exports_shortfall (release_id, item_id, counted)
    SELECT %(release)s, i.id, COALESCE(c.counted, 0)
    FROM annotation_item i
    JOIN annotation_batch b ON b.id = i.batch_id AND b.purpose IN ('work', 'study')
    LEFT JOIN (SELECT a.item_id AS item_id, COUNT(*) AS counted {counted} GROUP BY a.item_id) c ON c.item_id = i.id
    WHERE i.campaign_id = %(campaign)s AND i.state = 'active' AND i.split_id IN ({splits})
    AND NOT EXISTS (SELECT 1 FROM exports_releasemember m WHERE m.release_id = %(release)s AND m.item_id = i.id)
"""


def _freeze_rows(release: Release, split_ids: list[int]) -> None:
    splits = ", ".join(str(int(pk)) for pk in split_ids)
    counted = _COUNTED.format(splits=splits)
    campaign = Release._meta.get_field("campaign").get_db_prep_value(release.campaign_id, connection)  # noqa: SLF001
    parameters = {"release": release.pk, "campaign": campaign, "ways": release.ways}
    quoted = connection.ops.quote_name("index")
    with connection.cursor() as cursor:
        for statement in (_MEMBERS, _SHORTFALL):
            sql = statement.format(counted=counted, splits=splits).replace("s.index", f"s.{quoted}")
            cursor.execute(sql, parameters)
