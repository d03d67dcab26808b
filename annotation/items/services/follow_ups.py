"""Follow-up items: items about an answer, for other annotators, in a batch of their own before all other work."""

import hashlib
from collections.abc import Iterable
from datetime import datetime

from django.db.models import Max

from accounts.audit import record
from annotation.locks import campaign_lock
from annotation.models import (
    HOLDING,
    Annotation,
    Assignment,
    AssignmentState,
    Batch,
    BatchState,
    Campaign,
    Item,
    ItemState,
    Purpose,
    Slot,
)
from annotation.slots.ordering import follow_up_key, new_example_id
from annotation.slots.services.bars import bars_put
from annotation.slots.services.counting import item_slots_close
from annotation.tasktypes.base import FollowUp
from database.transactions import require_transaction


def follow_ups_add(*, annotation: Annotation, wanted: Iterable[FollowUp], now: datetime) -> int | None:
    """Create the follow-up items of an annotation, unless they exist already.

    Returns the queue position of the first new slot, for a `queue_rewind` at the end of the transaction, or None if
    there is no new slot.
    """
    require_transaction()
    if annotation.follow_ups.filter(state=ItemState.ACTIVE).exists():
        return None
    key = None
    for number, follow_up in enumerate(wanted, start=annotation.follow_ups.count()):
        key = follow_up_key(annotation.pk)
        _add(annotation, follow_up, number, key, now)
    return key


def _add(annotation: Annotation, follow_up: FollowUp, number: int, key: int, now: datetime) -> None:
    campaign = annotation.campaign
    # An id that tells nothing of what it follows: managers see that beside it, annotators see no id at all.
    name = f"{follow_up.asks}-{annotation.published_id}" + (f"-{number + 1}" if number else "")
    # In the split of what it follows: what is sealed there is sealed here.
    item = Item.objects.create(
        campaign=campaign,
        batch=_batch(campaign, now),
        split_id=annotation.item.split_id,
        external_id=name,
        follows=annotation,
        published_id=new_example_id(campaign.seed, name, annotation.pk),
        content=follow_up.content,
        content_sha256=hashlib.sha256(f"follow-up {name}".encode()).hexdigest(),
        n=1,
        votes=1,
        created_at=now,
    )
    bars_put(item=item, follows=annotation)
    Slot.objects.create(campaign=campaign, item=item, index=0, order_key=key)


def _batch(campaign: Campaign, now: datetime) -> Batch:
    """Return the batch of follow-ups, made with the first of them."""
    batch = Batch.objects.filter(campaign=campaign, purpose=Purpose.REVIEW).first()
    if batch is None:
        campaign_lock(campaign)
        last = Batch.objects.filter(campaign=campaign).aggregate(last=Max("ordinal"))["last"] or 0
        batch = Batch.objects.create(
            campaign=campaign, ordinal=last + 1, purpose=Purpose.REVIEW, state=BatchState.OPEN, created_at=now
        )
    return batch


def follow_ups_withdraw(*, annotation: Annotation, because: str, now: datetime) -> int:
    """Close the follow-ups of an annotation, and theirs in turn; submitted work is kept. Return how many."""
    require_transaction()
    asked = annotation.follow_ups.filter(state=ItemState.ACTIVE).order_by("pk")
    count = 0
    for item_id in list(asked.values_list("pk", flat=True)):
        Assignment.objects.filter(item=item_id, state__in=HOLDING).update(state=AssignmentState.RELEASED, ended_at=now)
        item = Item.objects.select_for_update(no_key=True).get(pk=item_id)
        Item.objects.filter(pk=item_id).update(state=ItemState.RETIRED, retired_reason=because[:300])
        item_slots_close(item=item)
        item.reports.filter(resolved_at=None).update(resolved_at=now)
        record(action="item_retire", subject=item, now=now, actor_id=None, scope_id=item.campaign_id, reason=because)
        count += 1
        for answer in Annotation.objects.filter(item=item_id).order_by("pk"):
            count += follow_ups_withdraw(annotation=answer, because=because, now=now)
    return count
