"""The queue of open slots, and a person's position in it."""

from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import BooleanField, Exists, ExpressionWrapper, F, Max, Min, OuterRef, Q, QuerySet

from annotation.models import BLOCKING, Assignment, Campaign, ItemBar, Participation, QueueRewind, Slot, SlotState
from annotation.slots.services.counting import HeldSlot, slot_hold_first
from database.statements import Statement
from database.transactions import require_transaction

# How many open slots are looked at together. Almost always the first fits.
LOOK_AHEAD = 64


def queue_rewind(*, campaign: Campaign, order_key: int) -> None:
    """Record that slots were added from a queue position on. It locks the campaign's row, so call it last."""
    require_transaction()
    Campaign.objects.filter(pk=campaign.pk).update(queue_version=F("queue_version") + 1)
    version = Campaign.objects.values_list("queue_version", flat=True).get(pk=campaign.pk)
    QueueRewind.objects.create(campaign=campaign, version=version, order_key=order_key)


def queue_catch_up(place: Participation) -> None:
    """Move an annotator back to slots that were added before their queue position since their last claim."""
    if place.queue_version == place.campaign.queue_version:
        return
    since = QueueRewind.objects.filter(campaign_id=place.campaign_id, version__gt=place.queue_version)
    found = since.aggregate(first=Min("order_key"), version=Max("version"))
    if found["version"] is not None:
        place.cursor, place.queue_version = min(place.cursor, found["first"]), found["version"]
        Participation.objects.filter(pk=place.pk).update(cursor=place.cursor, queue_version=place.queue_version)


def seen_by(surrogate_id: UUID) -> QuerySet[Assignment]:
    """Return the assignments whose items a person can't get again."""
    return Assignment.objects.filter(surrogate_id=surrogate_id, state__in=BLOCKING)


def _is_past(surrogate_id: UUID) -> Q:
    """Return the condition that a person can't get the item of a slot: they had it or are barred from it."""
    barred = ItemBar.objects.filter(surrogate_id=surrogate_id, item_id=OuterRef("item_id"))
    return Q(Exists(seen_by(surrogate_id).filter(item_id=OuterRef("item_id")))) | Q(Exists(barred))


def _look_query(
    campaign_id: UUID, surrogate_id: UUID, position: int, last_pk: int, end: int, *, reopened: bool
) -> QuerySet[Slot, Any]:
    """Return a part of the queue: for each slot its key, its position, and whether this person can't get its item."""
    is_seen = ExpressionWrapper(_is_past(surrogate_id), output_field=BooleanField())
    slots = Slot.objects.filter(
        campaign_id=campaign_id, state=SlotState.OPEN, is_reopened=reopened, order_key__gte=position, order_key__lt=end
    ).exclude(order_key=position, pk__lte=last_pk)
    if reopened:  # few as a rule, many after an exclusion: the database passes over what was seen
        slots = slots.filter(~is_seen)
    return slots.order_by("order_key", "pk").values_list("pk", "order_key", is_seen)[:LOOK_AHEAD]


_END = 2**63 - 1  # beyond the queue
_LOOK = Statement(partial(_look_query, reopened=False), UUID, UUID, int, int, int)
_LOOK_REOPENED = Statement(partial(_look_query, reopened=True), UUID, UUID, int, int, int)


class QueueSearch:
    """A search along the open slots for one person."""

    def __init__(self, campaign: Campaign, surrogate_id: UUID) -> None:
        self.campaign = campaign
        self.surrogate_id = surrogate_id
        self.position = 0

    def first(
        self, *, after: int = 0, before: int = _END, reopened: bool = False, looks: int | None = None
    ) -> HeldSlot | None:
        """Take and return the first open slot of an item that this person has not seen."""
        position, last_pk = after, 0
        look = _LOOK_REOPENED if reopened else _LOOK
        while looks is None or looks > 0:
            chunk = look.rows(self.campaign.pk, self.surrogate_id, position, last_pk, before)
            slot = slot_hold_first(slot_ids=[pk for pk, _, seen in chunk if not seen])
            if chunk and not reopened and before == _END:
                self.position = slot.order_key if slot else chunk[-1][1]
            if slot is not None or len(chunk) < LOOK_AHEAD:
                return slot
            last_pk, position = chunk[-1][:2]
            looks = looks - 1 if looks is not None else None
        return None

    def is_past(self) -> Q:
        """Return the condition that the item of a slot is not for this person (any more)."""
        return _is_past(self.surrogate_id)
