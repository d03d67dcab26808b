"""Creating the slots of items, and adding more."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, F, Max, Min, Q
from django.utils import timezone

from accounts.audit import record
from annotation.items.selectors import items_drawn
from annotation.locks import campaign_lock
from annotation.models import (
    Batch,
    BatchState,
    Campaign,
    CampaignState,
    Item,
    ItemState,
    Slot,
    SlotState,
    Split,
)
from annotation.payloads import LaunchPayload
from annotation.slots.ordering import order_key
from annotation.slots.services.counting import round_slots_close, round_slots_want
from annotation.slots.services.queue import queue_rewind
from database.bulk import rows_insert, statistics_refresh
from database.transactions import require_transaction
from jobs.models import Job
from jobs.services import job_enqueue, job_failed_lately
from jobs.work import Work
from web.errors import KeyedError

CHUNK = 2_000
NewSlot = tuple[int, int, int, int]  # its place in the queue, first of all; item, round, index


class SlotsRefused(KeyedError):
    """Items cannot get more slots."""


def batch_launch(*, work: Work, batch: Batch, actor_id: UUID | None) -> dict[str, Any]:
    """Create the slots of a batch's items, then open the batch; repeating it adds nothing.

    Slots are assigned only when the batch is open, so nobody works on half a batch.
    """
    made, last = work.job.result.get("slots", 0), 0
    while True:
        with work.step(message=f"{made:,} slots", slots=made):
            campaign_lock(batch.campaign)
            without = Item.objects.filter(batch=batch, state=ItemState.ACTIVE, slots=None).order_by("pk")
            rows = without.values_list("pk", "external_id", "n")
            items = list(rows.filter(pk__gt=last)[:CHUNK] or (rows[:CHUNK] if last else ()))
            slots = [row for pk, name, n in items for row in _slots(batch, pk, name, range(n), wave=0)]
            _insert(batch.campaign, slots)
            made += len(slots)
            last = items[-1][0] if items else 0
            if not items:  # in the same transaction, so that no item can come in between
                _open(batch, actor_id=actor_id, slots=made)
        if not items:
            statistics_refresh(Item, Slot)
            return {"slots": made}


def batches_open(now: datetime) -> None:
    """Launch batches whose time has come, in campaigns that are not closed."""
    due = Batch.objects.filter(state=BatchState.DRAFT, opens_at__lte=now).exclude(campaign__state=CampaignState.CLOSED)
    for batch in due.select_related("campaign").order_by("opens_at", "pk")[:20]:
        if not job_failed_lately(key=_launch_key(batch), now=now):
            launch_request(batch=batch, actor_id=None, now=now)


def _launch_key(batch: Batch) -> str:
    return f"launch:{batch.pk}"


def launch_request(*, batch: Batch, actor_id: UUID | None, now: datetime) -> Job:
    """Request a job that launches a batch; repeated requests change nothing."""
    return job_enqueue(
        kind="annotation.launch",
        payload=LaunchPayload(campaign=str(batch.campaign_id), batch=batch.pk),
        now=now,
        scope_id=batch.campaign_id,
        requested_by_id=actor_id,
        key=_launch_key(batch),
    )


def _open(batch: Batch, *, actor_id: UUID | None, slots: int) -> None:
    opened = Batch.objects.filter(pk=batch.pk, state=BatchState.DRAFT).update(state=BatchState.OPEN)
    if opened:
        first = Slot.objects.filter(item__batch=batch).aggregate(first=Min("order_key"))["first"]
        if first is not None:
            queue_rewind(campaign=batch.campaign, order_key=first)
        record(
            action="batch_launch",
            subject=batch,
            now=timezone.now(),
            actor_id=actor_id,
            scope_id=batch.campaign_id,
            slots=slots,
        )


def items_extend(
    *,
    campaign: Campaign,
    split: Split,
    n: int,
    sample: int,
    seed: int,
    actor_id: UUID | None,
    now: datetime,
    step: Callable[[], AbstractContextManager[None]] = transaction.atomic,
) -> int:
    """Request n annotations of each launched item in a seeded sample of a split; existing slots stay unchanged.

    Each ``step`` is a transaction of its own; going on after an interruption adds what is missing.

    Returns
    -------
    int
        How many items were extended by this call.
    """
    if split.sealed_at is not None:
        raise SlotsRefused("split_sealed_slots", split=split)
    drawn = items_drawn(split=split, sample=sample, seed=seed)
    extended = 0
    for start in range(0, len(drawn), CHUNK):
        with step():
            extended += _extend(campaign, drawn[start : start + CHUNK], n)
    with step():
        record(
            action="items_extend",
            subject=split,
            now=now,
            actor_id=actor_id,
            scope_id=campaign.pk,
            n=n,
            seed=seed,
            sample=sample,
            items=extended,
        )
    return extended


def _extend(campaign: Campaign, ids: list[int], n: int) -> int:
    require_transaction()
    rows = Item.objects.select_for_update(of=("self",), no_key=True).select_related("batch")
    items = list(rows.filter(pk__in=ids, n__lt=n, state=ItemState.ACTIVE).order_by("pk"))
    slots = [row for item in items for row in _slots(item.batch, item.pk, item.external_id, range(item.n, n), wave=1)]
    _insert(campaign, slots)
    Item.objects.filter(pk__in=[item.pk for item in items]).update(n=n)
    if slots:
        queue_rewind(campaign=campaign, order_key=min(slots)[0])
    return len(items)


def round_open(*, item: Item, round_: int) -> int | None:
    """Request a further round of votes on an item, from people who have not received it.

    Closed slots of that round reopen. Returns the queue position of the first new slot,
    for a `queue_rewind` at the end of the transaction, or None if there is no new slot.
    """
    require_transaction()
    there = set(Slot.objects.filter(item=item, round=round_).values_list("index", flat=True))
    wanted = [index for index in range(item.votes) if index not in there]
    slots = list(_slots(item.batch, item.pk, item.external_id, wanted, wave=0, round_=round_))
    round_slots_want(item=item, round_=round_)
    _insert(item.campaign, slots)
    return min((key for key, *_ in slots), default=None)


def votes_add(*, items: Sequence[Item], most: int, wave: int) -> int | None:
    """Request one more vote on each of some locked items of a campaign, in their second round.

    Items that already have ``most`` votes or requests for votes are left out. Returns the queue position of the first
    new slot, as `round_open` does.
    """
    require_transaction()
    slots_there = Slot.objects.filter(item__in=items).exclude(state=SlotState.CLOSED)
    votes = slots_there.filter(Q(round=1, index__lt=F("item__votes")) | Q(round=2)).values_list("item").order_by()
    wanted = dict(votes.annotate(n=Count("pk")))
    items = [item for item in items if wanted.get(item.pk, 0) < most]
    last = Slot.objects.filter(item__in=items, round=2).values_list("item").annotate(last=Max("index")).order_by()
    there = dict(last)
    slots = [
        row
        for item in items
        for row in _slots(item.batch, item.pk, item.external_id, [there.get(item.pk, -1) + 1], wave=wave, round_=2)
    ]
    if slots:
        _insert(items[0].campaign, slots)
    return min((key for key, *_ in slots), default=None)


def rounds_wanted(*, items: Collection[Item], round_: int) -> set[int]:
    """Return the keys of the items that have wanted or open slots in a round."""
    slots = Slot.objects.filter(Q(is_wanted=True) | Q(state=SlotState.OPEN), item__in=items, round=round_)
    return set(slots.values_list("item_id", flat=True))


def round_close(*, item: Item, round_: int) -> int:
    """Stop a round's voting: open slots close; held ones can be finished, but don't reopen. Return how many closed."""
    return round_slots_close(item=item, round_=round_)


def _slots(
    batch: Batch, item_id: int, name: str, indices: Iterable[int], *, wave: int, round_: int = 1
) -> Iterator[NewSlot]:
    """Yield the rows of slots, with the columns of `_insert`."""
    seed, ordinal = batch.campaign.seed, batch.ordinal
    for index in indices:
        key = order_key(seed, batch=ordinal, round_=round_, wave=wave, item=name, index=index)
        yield key, item_id, round_, index


def _insert(campaign: Campaign, slots: Sequence[NewSlot]) -> None:
    columns = ("order_key", "item_id", "round", "index")
    rows_insert(Slot, columns, slots, same={"campaign_id": campaign.pk}, ignore_conflicts=True)
