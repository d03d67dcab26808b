"""Handing out work: one open slot to one person, at a cost that does not grow."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Exists, F, Max, Min, OuterRef, QuerySet

from accounts.selectors import consent_is_current
from accounts.transactions import durable, require_transaction
from annotation.models import (
    BLOCKING,
    GIVEN_BACK,
    Assignment,
    AssignmentState,
    BatchState,
    Campaign,
    CampaignState,
    Injection,
    ItemState,
    Participation,
    QueueRewind,
    Slot,
    SlotState,
    Standing,
    TrainingExample,
)
from annotation.selectors.campaigns import guideline_current
from annotation.services.counting import slot_hold, slots_release
from annotation.signals import participation_begun

# How many open slots are looked at together. Almost always the first fits.
LOOK_AHEAD = 64


class Reason(StrEnum):
    """Why there is no work for an annotator now."""

    NOTHING_OPEN = "nothing_open"
    ALL_SEEN = "all_seen"
    ALL_HELD = "all_held"
    QUOTA_REACHED = "quota_reached"
    SUSPENDED = "suspended"
    PAUSED = "paused"
    CONSENT_NEEDED = "consent_needed"
    TRAINING_NEEDED = "training_needed"


@dataclass(frozen=True, slots=True)
class Claim:
    """An assignment, or the reason why there is none and when to try again."""

    assignment: Assignment | None
    reason: Reason | None = None
    try_again_at: datetime | None = None


@durable
def slot_claim_next(*, campaign: Campaign, surrogate_id: UUID, now: datetime) -> Claim:
    """Return the person's live assignment, or claim the next slot that suits them."""
    return claim_next(campaign=campaign, surrogate_id=surrogate_id, now=now)


def claim_next(*, campaign: Campaign, surrogate_id: UUID, now: datetime) -> Claim:
    """Claim inside the caller's transaction; see `slot_claim_next`."""
    require_transaction()
    own = _own(campaign, surrogate_id)
    live = own.get(AssignmentState.LIVE)
    if live is not None and live.deadline_at > now:
        return Claim(live)
    refusal = _refusal(campaign, surrogate_id)
    if refusal is not None:
        return Claim(None, refusal)
    if live is not None:  # overdue, and the sweep has not come by yet: their own work goes on
        return Claim(_renewed(live, campaign, now))
    reserved = own.get(AssignmentState.RESERVED)
    if reserved is not None and _begin(reserved, campaign, now):
        return Claim(reserved)
    return _claim(campaign, surrogate_id, AssignmentState.LIVE, campaign.deadline_seconds, now)


# A reservation waits this long to be shown; then the slot is anyone's again.
RESERVATION_SECONDS = 300


@durable
def slot_reserve_next(*, campaign: Campaign, surrogate_id: UUID, now: datetime) -> bool:
    """Hold the slot a person will get next for a short while, so that it is there at once."""
    if _refusal(campaign, surrogate_id) is not None:
        return False
    own = _own(campaign, surrogate_id)
    if AssignmentState.LIVE not in own or AssignmentState.RESERVED in own:
        return AssignmentState.RESERVED in own
    claim = _claim(campaign, surrogate_id, AssignmentState.RESERVED, RESERVATION_SECONDS, now)
    return claim.assignment is not None


def _own(campaign: Campaign, surrogate_id: UUID) -> dict[str, Assignment]:
    """Return what a person holds, by its state: at most one live and one reserved."""
    held = Assignment.objects.select_related("item__tokenization__document", "guideline", "slot").filter(
        campaign=campaign, surrogate_id=surrogate_id, state__in=[AssignmentState.LIVE, AssignmentState.RESERVED]
    )
    return {assignment.state: assignment for assignment in held}


def _refusal(campaign: Campaign, surrogate_id: UUID) -> Reason | None:
    """Return why this person may not take anything now."""
    if campaign.state != CampaignState.OPEN:
        return Reason.PAUSED if campaign.state == CampaignState.PAUSED else Reason.NOTHING_OPEN
    if not consent_is_current(scope_id=campaign.pk, surrogate_id=surrogate_id):
        return Reason.CONSENT_NEEDED
    participation = Participation.objects.filter(campaign=campaign, surrogate_id=surrogate_id).first()
    if campaign.has_training and not (participation and participation.trained_at) and _teaches(campaign):
        return Reason.TRAINING_NEEDED
    return _refusal_of(participation, campaign) if participation else None


def _teaches(campaign: Campaign) -> bool:
    return TrainingExample.objects.filter(campaign=campaign).exists()


def _refusal_of(participation: Participation, campaign: Campaign) -> Reason | None:
    if participation.standing in (Standing.PAUSED, Standing.SUSPENDED):
        return Reason.SUSPENDED
    if campaign.quota is not None and participation.submitted >= campaign.quota:
        return Reason.QUOTA_REACHED
    return None


def _renewed(live: Assignment, campaign: Campaign, now: datetime) -> Assignment:
    live.deadline_at = now + timedelta(seconds=campaign.deadline_seconds)
    Assignment.objects.filter(pk=live.pk, state=AssignmentState.LIVE).update(deadline_at=live.deadline_at)
    return live


def _begin(reserved: Assignment, campaign: Campaign, now: datetime) -> bool:
    """Turn a reservation into an assignment, unless the sweep has just taken it back."""
    reserved.state = AssignmentState.LIVE
    reserved.claimed_at = now
    reserved.deadline_at = now + timedelta(seconds=campaign.deadline_seconds)
    begun = Assignment.objects.filter(pk=reserved.pk, state=AssignmentState.RESERVED).update(
        state=reserved.state, claimed_at=reserved.claimed_at, deadline_at=reserved.deadline_at
    )
    return bool(begun)


def _claim(campaign: Campaign, surrogate_id: UUID, state: AssignmentState, seconds: int, now: datetime) -> Claim:
    participation = participation_lock(campaign_id=campaign.pk, surrogate_id=surrogate_id)
    if Assignment.objects.filter(campaign=campaign, surrogate_id=surrogate_id, state=state).exists():
        return Claim(_own(campaign, surrogate_id)[state])  # another tab of the same person was quicker
    _rewind(participation)
    search = _Search(campaign, surrogate_id)
    deadline_at = now + timedelta(seconds=seconds)
    own = _given_back(participation, search)
    if own is None:
        own = _injected(participation, search, ahead=state == AssignmentState.RESERVED)
    if own is not None:
        return _assign(campaign, surrogate_id, own, state, deadline_at, now)
    slot = search.first(after=participation.cursor)
    if search.position > participation.cursor:
        Participation.objects.filter(pk=participation.pk).update(cursor=search.position)
    if slot is None:
        slot = search.first(reopened=True)
    if slot is None and participation.cursor:
        # A slot that was locked while this person passed by, and then left open: rare, so one look is enough.
        slot = search.first(before=participation.cursor, looks=1)
    if slot is None:
        return _nothing(campaign, search)
    return _assign(campaign, surrogate_id, slot, state, deadline_at, now)


def _given_back(place: Participation, search: "_Search") -> Slot | None:
    """Hold and return the slot that an annotator gave back last, or whose time ran out, if it is free still.

    It is asked for in one way, whether it is open to everybody or put aside for this person: if the one came back and
    the other did not, what comes back would tell which was a known answer.
    """
    ended = (
        Assignment.objects.filter(
            campaign_id=place.campaign_id, surrogate_id=place.surrogate_id,
            state__in=GIVEN_BACK, slot__state__in=[SlotState.OPEN, SlotState.ASIDE],
            item__state=ItemState.ACTIVE, item__batch__state=BatchState.OPEN,
        )
        .exclude(item__in=search.seen().values("item"))
        .select_related("slot")
        .order_by("-ended_at", "pk")
        .first()
    )  # fmt: skip
    if ended is None:
        return None
    return ended.slot if slot_hold(slot_id=ended.slot_id, before=SlotState(ended.slot.state)) else None


def _injected(place: Participation, search: "_Search", *, ahead: bool) -> Slot | None:
    """Hold and return the slot that was put aside for this person at this point, if there is one.

    Looked for in every claim, so that a claim that finds one takes no other way than one that does not.
    """
    injection = (
        Injection.objects.filter(
            campaign_id=place.campaign_id, surrogate_id=place.surrogate_id, position__lte=place.submitted + ahead,
            slot__state=SlotState.ASIDE, slot__item__state=ItemState.ACTIVE,
        )
        .exclude(slot__item__in=search.seen().values("item"))
        .select_related("slot")
        .order_by("position", "pk")
        .first()
    )  # fmt: skip
    if injection is None:
        return None
    return injection.slot if slot_hold(slot_id=injection.slot_id, before=SlotState.ASIDE) else None


def queue_rewind(*, campaign: Campaign, order_key: int) -> None:
    """Note that there are new slots from a place of the queue on. Locks the campaign's row, so do it last."""
    require_transaction()
    Campaign.objects.filter(pk=campaign.pk).update(queue_version=F("queue_version") + 1)
    version = Campaign.objects.values_list("queue_version", flat=True).get(pk=campaign.pk)
    QueueRewind.objects.create(campaign=campaign, version=version, order_key=order_key)


def _rewind(place: Participation) -> None:
    """Bring an annotator back to slots that were added before their place in the queue since they last claimed."""
    if place.queue_version == place.campaign.queue_version:
        return
    since = QueueRewind.objects.filter(campaign_id=place.campaign_id, version__gt=place.queue_version)
    found = since.aggregate(first=Min("order_key"), version=Max("version"))
    if found["version"] is not None:
        place.cursor, place.queue_version = min(place.cursor, found["first"]), found["version"]
        Participation.objects.filter(pk=place.pk).update(cursor=place.cursor, queue_version=place.queue_version)


def participation_lock(*, campaign_id: UUID, surrogate_id: UUID) -> Participation:
    """Return a person's place in a campaign, locked until the transaction ends.

    Taken before anything else of theirs is changed, so that their tabs go one after another.
    """
    require_transaction()
    places = Participation.objects.filter(campaign_id=campaign_id, surrogate_id=surrogate_id).select_related("campaign")
    place = places.select_for_update(no_key=True, of=("self",)).first()
    if place is None:
        version = Campaign.objects.values_list("queue_version", flat=True).get(pk=campaign_id)
        _, began = Participation.objects.get_or_create(
            campaign_id=campaign_id, surrogate_id=surrogate_id, defaults={"queue_version": version}
        )
        place = places.select_for_update(no_key=True, of=("self",)).get()
        if began:
            participation_begun.send(sender=Participation, place=place)
    return place


class _Search:
    """One person's walk along the open slots."""

    def __init__(self, campaign: Campaign, surrogate_id: UUID) -> None:
        self.campaign = campaign
        self.surrogate_id = surrogate_id
        self.position = 0

    def first(
        self, *, after: int = 0, before: int | None = None, reopened: bool = False, looks: int | None = None
    ) -> Slot | None:
        """Take and return the first open slot of an item that this person has not seen."""
        position, last_pk = after, 0
        open_slots = Slot.objects.filter(campaign=self.campaign, state=SlotState.OPEN, is_reopened=reopened)
        if before is not None:
            open_slots = open_slots.filter(order_key__lt=before)
        if reopened:  # few as a rule, many after an exclusion: the database passes over what was seen
            open_slots = open_slots.filter(~Exists(self.seen().filter(item_id=OuterRef("item_id"))))
        while looks is None or looks > 0:
            chunk = list(
                open_slots.filter(order_key__gte=position)
                .exclude(order_key=position, pk__lte=last_pk)
                .order_by("order_key", "pk")
                .values_list("pk", "item_id", "order_key")[:LOOK_AHEAD]
            )
            slot = self._first_of(chunk)
            if chunk and not reopened and before is None:
                self.position = slot.order_key if slot else chunk[-1][2]
            if slot is not None or len(chunk) < LOOK_AHEAD:
                return slot
            position, last_pk = chunk[-1][2], chunk[-1][0]
            looks = looks - 1 if looks is not None else None
        return None

    def seen(self) -> QuerySet[Assignment]:
        """Return the assignments that keep items from being given to this person again."""
        return Assignment.objects.filter(surrogate_id=self.surrogate_id, state__in=BLOCKING)

    def _first_of(self, chunk: list[tuple[int, int, int]]) -> Slot | None:
        seen = set(self.seen().filter(item_id__in={item for _, item, _ in chunk}).values_list("item_id", flat=True))
        return _hold_one([pk for pk, item, _ in chunk if item not in seen])


def _hold_one(candidates: list[int]) -> Slot | None:
    """Take the first of some slots that is still open and that nobody else is taking at this moment."""
    if not candidates:
        return None
    slot = (
        Slot.objects.select_for_update(skip_locked=True, of=("self",), no_key=True)
        .filter(
            pk__in=candidates, state=SlotState.OPEN, item__state=ItemState.ACTIVE, item__batch__state=BatchState.OPEN
        )
        .order_by("order_key", "pk")
        .first()
    )
    if slot is None:
        return None
    return slot if slot_hold(slot_id=slot.pk) else None


def _assign(
    campaign: Campaign, surrogate_id: UUID, slot: Slot, state: AssignmentState, deadline_at: datetime, now: datetime
) -> Claim:
    kept = (
        Assignment.objects.filter(item_id=slot.item_id, surrogate_id=surrogate_id, state__in=GIVEN_BACK)
        .order_by("-claimed_at")
        .first()
    )
    try:
        with transaction.atomic():
            assignment = Assignment.objects.create(
                campaign=campaign,
                item_id=slot.item_id,
                slot=slot,
                surrogate_id=surrogate_id,
                guideline=guideline_current(campaign),
                state=state,
                claimed_at=now,
                deadline_at=deadline_at,
                draft=kept.draft if kept else {},
                draft_version=1 if kept and kept.draft else 0,
            )
    except IntegrityError:
        # Another tab of the same person was quicker: what it got is theirs, and this slot goes back.
        slots_release(slot_ids=[slot.pk])
        theirs = _own(campaign, surrogate_id).get(state)
        if theirs is None:
            raise  # not another tab: a slot that is open and held at once must not be ignored
        return Claim(theirs)
    return Claim(_own(campaign, surrogate_id)[assignment.state])


def _nothing(campaign: Campaign, search: _Search) -> Claim:
    """Return why there is nothing: what is open was seen, or others are on all of it, or nothing is left."""
    open_slots = Slot.objects.filter(campaign=campaign, state=SlotState.OPEN, item__state=ItemState.ACTIVE)
    if open_slots.filter(Exists(search.seen().filter(item_id=OuterRef("item_id")))).exists():
        return Claim(None, Reason.ALL_SEEN)
    # A slot that is open although we found none is being taken by another annotator at this moment. One statement
    # asks for both: between two, a slot could pass from open to held and be seen as neither.
    taken = Slot.objects.filter(campaign=campaign, state__in=[SlotState.OPEN, SlotState.HELD])
    if taken.filter(item__state=ItemState.ACTIVE).exists():
        working = Assignment.objects.filter(
            campaign=campaign, state__in=[AssignmentState.LIVE, AssignmentState.RESERVED]
        )
        return Claim(None, Reason.ALL_HELD, working.aggregate(soonest=Min("deadline_at"))["soonest"])
    return Claim(None, Reason.NOTHING_OPEN)
