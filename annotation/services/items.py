"""How items come in, get their slots, get more of them, and are retired."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.audit import record
from annotation.models import (
    Assignment,
    AssignmentState,
    Batch,
    BatchState,
    Campaign,
    CampaignDocument,
    Item,
    ItemState,
    Participation,
    Slot,
    SlotState,
    Split,
)
from annotation.ordering import drawn_split, new_example_id, order_key, seeded
from annotation.services.campaigns import batch_for_import, pilot_split
from annotation.tasktypes.base import NewItem, RowError, TaskType
from annotation.tasktypes.registry import TASK_TYPES
from jobs.work import Work

CHUNK = 500
MAX_ERRORS_KEPT = 1_000

Row = tuple[int, Mapping[str, Any] | RowError]


class ImportRefused(ValueError):
    """Rows are wrong and all were wanted: nothing was imported."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A row that can become an item."""

    row: int
    new: NewItem
    tokenization_id: int | None


def items_import(
    *, work: Work, campaign: Campaign, rows: Iterable[Row], pilot: bool, good_rows_only: bool, people: int = 2
) -> dict[str, Any]:
    """Import items; every row is checked before the first is written.

    Importing a row again changes nothing. A row is wrong when it lacks a column, names a document the
    campaign does not have, repeats a question of another item, or an id with another question.

    Raises
    ------
    ImportRefused
        Rows are wrong and ``good_rows_only`` is not set. Nothing was imported.
    """
    checked, result = _check_rows(work, campaign, rows)
    if result["errors"] and not good_rows_only:
        first = result["errors"][0]
        work.progress(0, message="refused")
        with work.step(**result):
            pass
        raise ImportRefused(
            f"{result['failed']} of {result['rows']} rows are wrong, so nothing was imported. "
            f"The first: row {first['row']}, {first['column']}: {first['error']}"
        )
    start = work.job.result.get("written", 0)
    for index in range(start, len(checked), CHUNK):
        chunk = checked[index : index + CHUNK]
        written = min(index + CHUNK, len(checked))
        with work.step(done=written, total=len(checked), written=written):
            _write(campaign, chunk, pilot=pilot, people=people, now=timezone.now())
    return {**result, "imported": len(checked)}


def _check_rows(work: Work, campaign: Campaign, rows: Iterable[Row]) -> tuple[list[Checked], dict[str, Any]]:
    task_type = TASK_TYPES[campaign.task_type]
    checked: list[Checked] = []
    result: dict[str, Any] = {"rows": 0, "unchanged": 0, "failed": 0, "errors": []}
    seen: dict[str, int] = {}
    for chunk in _chunks(rows):
        for row, outcome in _check_chunk(campaign, task_type, chunk, seen):
            result["rows"] += 1
            if isinstance(outcome, RowError):
                result["failed"] += 1
                if len(result["errors"]) < MAX_ERRORS_KEPT:
                    result["errors"].append({"row": row, "column": outcome.column, "error": str(outcome)})
            elif outcome is None:
                result["unchanged"] += 1
            else:
                checked.append(outcome)
        work.progress(0, message=f"{result['rows']:,} rows checked")
    return checked, result


def _chunks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    iterator = iter(rows)
    while chunk := list(islice(iterator, CHUNK)):
        yield chunk


def _check_chunk(
    campaign: Campaign, task_type: TaskType, chunk: list[Row], seen: dict[str, int]
) -> Iterator[tuple[int, Checked | RowError | None]]:
    parsed: list[tuple[int, NewItem | RowError]] = [(number, _parsed(task_type, row)) for number, row in chunk]
    items = [new for _, new in parsed if isinstance(new, NewItem)]
    known = dict(
        Item.objects.filter(campaign=campaign, external_id__in=[new.external_id for new in items]).values_list(
            "external_id", "content_sha256"
        )
    )
    hashes = [_identity_sha256(new) for new in items]
    taken = dict(
        Item.objects.filter(campaign=campaign, content_sha256__in=hashes).values_list("content_sha256", "external_id")
    )
    documents = _documents_named(campaign, {new.document for new in items if new.document})
    for number, new in parsed:
        if isinstance(new, RowError):
            yield number, new
            continue
        yield number, _judged(number, new, known, taken, documents, seen, needs_document=task_type.needs_document)


def _judged(
    number: int,
    new: NewItem,
    known: dict[str, str],
    taken: dict[str, str],
    documents: dict[str, int],
    seen: dict[str, int],
    *,
    needs_document: bool,
) -> Checked | RowError | None:
    identity = _identity_sha256(new)
    for key, what in ((f"id {new.external_id}", "id"), (identity, "question")):
        if key in seen:
            return RowError(
                f"the same {what} is in row {seen[key]}", "external_id" if what == "id" else "question_text"
            )
    seen[f"id {new.external_id}"] = seen[identity] = number
    if known.get(new.external_id) == identity:
        return None
    if new.external_id in known:
        return RowError("this id was imported before with another question", "external_id")
    if identity in taken:
        return RowError(f"this question is already item {taken[identity]}", "question_text")
    if needs_document and new.document not in documents:
        return RowError(f"no document is called {new.document!r} in this campaign: import the pages first", "document")
    return Checked(number, new, documents.get(new.document or ""))


def _parsed(task_type: TaskType, row: Mapping[str, Any] | RowError) -> NewItem | RowError:
    if isinstance(row, RowError):
        return row
    try:
        return task_type.item_from_row(row)
    except RowError as error:
        return error


def _identity_sha256(new: NewItem) -> str:
    return hashlib.sha256(new.identity.encode()).hexdigest()


def _documents_named(campaign: Campaign, names: set[str]) -> dict[str, int]:
    """Return tokenizations by what rows call their document: its name first, then address or title."""
    rows = CampaignDocument.objects.filter(
        Q(name__in=names) | Q(tokenization__document__url__in=names) | Q(tokenization__document__title__in=names),
        campaign=campaign,
    ).values_list("name", "tokenization__document__url", "tokenization__document__title", "tokenization_id")
    found: dict[str, int] = {}
    for name, url, title, tokenization_id in rows:
        for label in (title, url):
            found.setdefault(label, tokenization_id)
        found[name] = tokenization_id
    return {name: found[name] for name in names if name in found}


def _write(campaign: Campaign, chunk: Sequence[Checked], *, pilot: bool, people: int, now: datetime) -> None:
    batch = batch_for_import(campaign=campaign, pilot=pilot, now=now)
    only = pilot_split(campaign=campaign, people=people) if pilot else None
    splits = [
        (split, split.weight) for split in Split.objects.filter(campaign=campaign, weight__gt=0).order_by("position")
    ]
    ordinal = Item.objects.filter(campaign=campaign).count()
    items = []
    for offset, row in enumerate(chunk):
        split = only or drawn_split(campaign.seed, _group_key(campaign, row), splits)
        new = row.new
        items.append(
            Item(
                campaign=campaign,
                batch=batch,
                split=split,
                tokenization_id=row.tokenization_id,
                external_id=new.external_id,
                published_id=new.published_id or new_example_id(campaign.seed, new.external_id, ordinal + offset),
                content=new.content,
                content_sha256=_identity_sha256(new),
                n=split.n,
                created_at=now,
            )
        )
    Item.objects.bulk_create(items, ignore_conflicts=False)


def _group_key(campaign: Campaign, row: Checked) -> str:
    if campaign.group_by == "document":
        return f"document {row.new.document}"
    if campaign.group_by == "question":
        return f"question {row.new.identity}"
    return f"item {row.new.external_id}"


def batch_launch(*, work: Work, batch: Batch, actor_id: UUID | None) -> dict[str, Any]:
    """Give every item of a batch its slots, then open the batch; doing it again adds nothing."""
    campaign = batch.campaign
    last = work.job.result.get("last_item", 0)
    made = work.job.result.get("slots", 0)
    while items := list(Item.objects.filter(batch=batch, pk__gt=last, state=ItemState.ACTIVE).order_by("pk")[:CHUNK]):
        last = items[-1].pk
        slots = [slot for item in items for slot in _slots(campaign, batch, item, range(item.n), wave=0)]
        made += len(slots)
        with work.step(message=f"{made:,} slots", last_item=last, slots=made):
            Slot.objects.bulk_create(slots, ignore_conflicts=True)
    with work.step():
        opened = Batch.objects.filter(pk=batch.pk, state=BatchState.DRAFT).update(state=BatchState.OPEN)
        if opened:
            record(
                action="batch_launch", subject=batch, now=timezone.now(), actor_id=actor_id, scope_id=campaign.pk,
                slots=made,
            )  # fmt: skip
    return {"slots": made}


def _slots(campaign: Campaign, batch: Batch, item: Item, indices: range, *, wave: int) -> Iterator[Slot]:
    for index in indices:
        yield Slot(
            campaign=campaign,
            item=item,
            round=1,
            index=index,
            order_key=order_key(
                campaign.seed, batch=batch.ordinal, round_=1, wave=wave, item=item.external_id, index=index
            ),
        )


def items_extend(
    *, campaign: Campaign, split: Split, n: int, sample: int, seed: int, actor_id: UUID | None, now: datetime
) -> int:
    """Ask for n annotations of a seeded sample of a split's launched items; slots there are stay as they are.

    Returns
    -------
    int
        How many items were extended.
    """
    with transaction.atomic():
        ids = Item.objects.filter(
            campaign=campaign, split=split, state=ItemState.ACTIVE, batch__state=BatchState.OPEN
        ).values_list("pk", "external_id")
        drawn = sorted(ids, key=lambda row: (seeded(seed, "extend", row[1]), row[0]))[:sample]
        items = list(Item.objects.select_related("batch").filter(pk__in=[pk for pk, _ in drawn], n__lt=n))
        slots = [slot for item in items for slot in _slots(campaign, item.batch, item, range(item.n, n), wave=1)]
        Slot.objects.bulk_create(slots, ignore_conflicts=True, batch_size=CHUNK)
        Item.objects.filter(pk__in=[item.pk for item in items]).update(n=n)
        if slots:  # people who are past this place in the queue come back to it
            first = min(slot.order_key for slot in slots)
            Participation.objects.filter(campaign=campaign, cursor__gt=first).update(cursor=first)
        record(
            action="items_extend", subject=split, now=now, actor_id=actor_id, scope_id=campaign.pk, n=n, seed=seed,
            items=len(items),
        )  # fmt: skip
    return len(items)


def item_retire(*, item: Item, reason: str, actor_id: UUID, now: datetime) -> bool:
    """Take a broken item out of use. What was submitted is kept; open slots close, held work is released."""
    with transaction.atomic():
        retired = Item.objects.filter(pk=item.pk, state=ItemState.ACTIVE).update(
            state=ItemState.RETIRED, retired_reason=reason[:300]
        )
        if retired:
            Slot.objects.filter(item=item, state__in=[SlotState.OPEN, SlotState.HELD]).update(state=SlotState.CLOSED)
            Assignment.objects.filter(item=item, state__in=[AssignmentState.LIVE, AssignmentState.RESERVED]).update(
                state=AssignmentState.RELEASED, ended_at=now
            )
            item.reports.filter(resolved_at=None).update(resolved_at=now)
            record(
                action="item_retire", subject=item, now=now, actor_id=actor_id, scope_id=item.campaign_id, reason=reason
            )
    return bool(retired)
