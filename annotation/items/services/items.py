"""Importing and retiring items, and drawing pilots."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from accounts.audit import record
from annotation.campaigns.selectors.sealing import is_sealed
from annotation.campaigns.services.campaigns import batch_for_import, pilot_split
from annotation.items.services.item_checks import Checked, Spool, checked_rows
from annotation.locks import campaign_lock
from annotation.models import (
    Annotation,
    Assignment,
    AssignmentState,
    BatchState,
    Campaign,
    Item,
    ItemState,
    Purpose,
    Split,
)
from annotation.slots.ordering import drawn_split, new_example_id
from annotation.slots.services.counting import item_slots_close
from annotation.tasktypes.base import FollowedUp
from annotation.tasktypes.registry import TASK_TYPES
from database.bulk import rarely_collected, rows_insert
from database.transactions import durable
from jobs.work import Work
from storage.tables.faults import RowError
from storage.tables.reading import Row

MAX_ERRORS_KEPT = 1_000


class ImportRefused(ValueError):
    """Some rows are wrong and ``good_rows_only`` wasn't set, so nothing was imported."""


@rarely_collected()
def items_import(
    *,
    work: Work,
    campaign: Campaign,
    rows: Iterable[Row],
    pilot: bool,
    good_rows_only: bool,
    people: int = 2,
    dry_run: bool = False,
    notes: Callable[[], list[str]] = list,
) -> dict[str, Any]:
    """Import items; every row is checked before the first is written.

    Importing a row again changes nothing. A row is wrong when it lacks a column, names a document the
    campaign does not have, repeats a question of another item, or an id with another question. ``notes`` is called
    after all rows were read, and returns notes about the file. With ``dry_run`` nothing is written, and ``valid`` counts
    the rows that would be imported.

    Raises
    ------
    ImportRefused
        Rows are wrong and ``good_rows_only`` is not set. Nothing was imported.
    """
    checked, result = _check(work, campaign, rows)
    result["notes"] = notes()
    if result["errors"] and not good_rows_only:
        first = result["errors"][0]
        with work.step(done=0, message="refused", **result):
            pass
        raise ImportRefused(
            f"{result['failed']} of {result['rows']} rows are wrong, so nothing was imported. "
            f"The first: row {first['row']}, {first['column']}: {first['error']}"
        )
    if dry_run:
        return {**result, "imported": 0, "valid": checked.count}
    # What an attempt that was killed wrote is found to be there already: it is not among the checked rows.
    before = work.job.result.get("written", 0)
    written, total = before, before + checked.count
    for chunk in checked.chunks():
        written += len(chunk)
        with work.step(done=written, total=total, written=written):
            _write(campaign, chunk, pilot=pilot, people=people, now=timezone.now())
    return {**result, "unchanged": result["unchanged"] - before, "imported": total}


def _check(work: Work, campaign: Campaign, rows: Iterable[Row]) -> tuple[Spool, dict[str, Any]]:
    checked = Spool()
    result: dict[str, Any] = {"rows": 0, "unchanged": 0, "failed": 0, "errors": []}
    for chunk in checked_rows(campaign, TASK_TYPES[campaign.task_type], rows):
        good = []
        for number, outcome in chunk:
            result["rows"] += 1
            if isinstance(outcome, RowError):
                result["failed"] += 1
                if len(result["errors"]) < MAX_ERRORS_KEPT:
                    result["errors"].append({"row": number, "column": outcome.column, "error": str(outcome)})
            elif outcome is None:
                result["unchanged"] += 1
            else:
                good.append(outcome)
        checked.add(good)
        work.progress(work.job.done, message=f"{result['rows']:,} rows checked")
    return checked, result


def _write(campaign: Campaign, chunk: Sequence[Checked], *, pilot: bool, people: int, now: datetime) -> None:
    campaign_lock(campaign)
    batch = batch_for_import(campaign=campaign, pilot=pilot, now=now)
    only = pilot_split(campaign=campaign, people=people) if pilot else None
    splits = split_weights(campaign)
    ordinal = Item.objects.filter(campaign=campaign).count()
    items = []
    for number, row in enumerate(chunk, ordinal):
        split = only or split_of_item(
            campaign, splits, item=row.external_id, question=row.question, document=row.document
        )
        published_id = row.published_id or new_example_id(campaign.seed, row.external_id, number)
        items.append(
            (
                row.external_id,
                published_id,
                row.content,
                row.content_sha256,
                row.tokenization_id,
                split.pk,
                split.n,
                split.n,
                row.origin,
            )
        )
    columns = (
        "external_id",
        "published_id",
        "content",
        "content_sha256",
        "tokenization_id",
        "split_id",
        "n",
        "votes",
        "origin",
    )
    rows_insert(Item, columns, items, same={"campaign_id": campaign.pk, "batch_id": batch.pk, "created_at": now})


def split_weights(campaign: Campaign) -> list[tuple[Split, int]]:
    """Return the splits that items are drawn into, with their weights."""
    splits = Split.objects.filter(campaign=campaign, weight__gt=0).order_by("position")
    return [(split, split.weight) for split in splits]


def split_of_item(
    campaign: Campaign, splits: list[tuple[Split, int]], *, item: str, question: str, document: str
) -> Split:
    """Return the split of an item, drawn with its seed for all items that the campaign keeps together."""
    group = {"item": item, "question": question, "document": document}[campaign.group_by]
    return drawn_split(campaign.seed, f"{campaign.group_by} {group}", splits)


@durable
def pilot_draw(*, campaign: Campaign, items: int, people: int, actor_id: UUID, now: datetime) -> int:
    """Move ``items`` items that are not launched yet into a pilot, where ``people`` colleagues annotate each.

    The items are drawn by the hash of their content: at random, and the same ones again if the draw is repeated.
    Returns how many were moved.
    """
    campaign_lock(campaign)
    waiting = Item.objects.filter(
        campaign=campaign,
        state=ItemState.ACTIVE,
        batch__purpose=Purpose.WORK,
        batch__state=BatchState.DRAFT,
        slots=None,  # of a batch that is being launched, some have slots already
    )
    drawn = list(waiting.order_by("content_sha256").values_list("pk", flat=True)[:items])
    if drawn:
        batch = batch_for_import(campaign=campaign, pilot=True, now=now)
        split = pilot_split(campaign=campaign, people=people)
        Item.objects.filter(pk__in=drawn).update(batch=batch, split=split, n=split.n, votes=split.n)
        record(action="pilot_draw", subject=batch, now=now, actor_id=actor_id, scope_id=campaign.pk, items=len(drawn))
    return len(drawn)


@durable
def item_retire(*, item: Item, reason: str, actor_id: UUID, now: datetime) -> bool:
    """Retire a broken item. Submissions are kept; open slots are closed and assignments released.

    Items of a sealed split can't be retired: scores over the remaining items would reveal labels.
    """
    if is_sealed(item):
        return False
    Assignment.objects.filter(item=item, state__in=[AssignmentState.LIVE, AssignmentState.RESERVED]).update(
        state=AssignmentState.RELEASED, ended_at=now
    )
    if isinstance(TASK_TYPES[item.campaign.task_type], FollowedUp):  # what follows from it, or what it follows
        answers = Annotation.objects.filter(Q(item=item) | Q(follow_ups=item)).order_by("pk")
        Annotation.objects.filter(pk__in=list(answers.values_list("pk", flat=True))).update(is_examined=False)
    retired = Item.objects.filter(pk=item.pk, state=ItemState.ACTIVE).update(
        state=ItemState.RETIRED, retired_reason=reason[:300]
    )
    if retired:
        item_slots_close(item=item)
        item.reports.filter(resolved_at=None).update(resolved_at=now)
        record(action="item_retire", subject=item, now=now, actor_id=actor_id, scope_id=item.campaign_id, reason=reason)
    return bool(retired)
