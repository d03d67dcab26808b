"""Assigning work: one open slot to one person, at a cost that doesn't grow with the campaign."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, F, Min, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from accounts.models import Consent
from accounts.selectors import consent_is_current, consent_of
from annotation.models import (
    GIVEN_BACK,
    HOLDING,
    Assignment,
    AssignmentState,
    BatchState,
    Campaign,
    CampaignState,
    Guideline,
    Injection,
    ItemState,
    Participation,
    Slot,
    SlotState,
    Standing,
    TrainingExample,
)
from annotation.signals import participation_advanced
from annotation.slots.services.bars import bars_meet
from annotation.slots.services.counting import HeldSlot, slot_hold
from annotation.slots.services.participation_locks import participation_lock
from annotation.slots.services.queue import QueueSearch, queue_catch_up, seen_by
from annotation.tasktypes.base import FollowedUp
from annotation.tasktypes.registry import TASK_TYPES
from database.statements import Insert, Statement, Update
from database.transactions import durable, require_transaction
from web.metrics import CLAIMS


class Reason(StrEnum):
    """The reason why an annotator can't get work now."""

    NOTHING_OPEN = "nothing_open"
    ALL_SEEN = "all_seen"
    ALL_HELD = "all_held"
    QUOTA_REACHED = "quota_reached"
    SUSPENDED = "suspended"
    PAUSED = "paused"
    CONSENT_NEEDED = "consent_needed"
    TRAINING_NEEDED = "training_needed"


# There is nothing more for a person because of what there is, not because of who they are or what they did.
RAN_OUT = (Reason.NOTHING_OPEN, Reason.ALL_SEEN, Reason.ALL_HELD)


@dataclass(frozen=True, slots=True)
class Claim:
    """An assignment, or the reason why there is none and when to try again.

    ``submitted`` is how many items its annotator submitted, if the claim had to read it. ``is_unread`` says that the
    guidelines changed since the annotator last read them, so the change is shown before the item.
    """

    assignment: Assignment | None
    reason: Reason | None = None
    try_again_at: datetime | None = None
    submitted: int | None = None
    is_unread: bool = False


@durable
def slot_claim_next(*, campaign: Campaign, surrogate_id: UUID, now: datetime) -> Claim:
    """Return the person's live assignment, or claim the next slot that suits them."""
    return claim_next(campaign=campaign, surrogate_id=surrogate_id, now=now)


def claim_next(*, campaign: Campaign, surrogate_id: UUID, now: datetime, place: Participation | None = None) -> Claim:
    """Claim inside the caller's transaction; see `slot_claim_next`. ``place`` is a participation, already locked."""
    require_transaction()
    own = _own(campaign, surrogate_id)
    live = own.get(AssignmentState.LIVE)
    if live is not None and live.deadline_at > now:
        agreed = consent_is_current(scope_id=campaign.pk, surrogate_id=surrogate_id)
        return Claim(live) if agreed else Claim(None, Reason.CONSENT_NEEDED)
    eligible = _eligibility(campaign, surrogate_id, place)
    if eligible.refusal is not None:
        claim = Claim(None, eligible.refusal)
    elif live is not None:  # overdue, and the sweep has not come by yet: their own work goes on
        claim = Claim(_renewed(live, campaign, now))
    elif (reserved := own.get(AssignmentState.RESERVED)) is not None and _begin(reserved, campaign, now):
        claim = Claim(reserved)
    else:
        claiming = _Claiming(campaign, surrogate_id, AssignmentState.LIVE, campaign.deadline_seconds, now)
        claim = _claim(claiming, eligible, place)
    transaction.on_commit(partial(CLAIMS.add, claim.reason.value if claim.reason else "given"))
    return replace(claim, submitted=eligible.submitted, is_unread=eligible.is_unread)


def work_refusal(*, campaign: Campaign, surrogate_id: UUID) -> Reason | None:
    """Return why a person can't get work now, judging by their state alone; assigns nothing."""
    return _eligibility(campaign, surrogate_id, None).refusal


# A reservation waits this long to be shown; then the slot is anyone's again.
RESERVATION_SECONDS = 300


@durable
def slot_reserve_next(*, campaign: Campaign, surrogate_id: UUID, now: datetime) -> bool:
    """Reserve a person's next slot for a short while, so that the item is available at once."""
    eligible = _eligibility(campaign, surrogate_id, None)
    if eligible.refusal is not None:
        return False
    own = _own(campaign, surrogate_id)
    if AssignmentState.LIVE not in own or AssignmentState.RESERVED in own:
        return AssignmentState.RESERVED in own
    claiming = _Claiming(campaign, surrogate_id, AssignmentState.RESERVED, RESERVATION_SECONDS, now)
    return _claim(claiming, eligible, None).assignment is not None


def _held_query(campaign_id: UUID, surrogate_id: UUID) -> QuerySet[Assignment, Any]:
    own = Assignment.objects.filter(campaign_id=campaign_id, surrogate_id=surrogate_id)
    # One look into the index of each state: together they would be sought among all that this person ever had.
    live, reserved = (own.filter(state=state).values_list("pk") for state in HOLDING)
    return live.union(reserved, all=True)


_HELD = Statement(_held_query, UUID, UUID)


def _own(campaign: Campaign, surrogate_id: UUID) -> dict[str, Assignment]:
    """Return what a person holds, by its state: at most one live and one reserved."""
    held = [_WITH_ITEM.first(pk) for (pk,) in _HELD.rows(campaign.pk, surrogate_id)]
    return {assignment.state: assignment for assignment in held if assignment.state in HOLDING}


_WITH_ITEM = Statement(lambda pk: _with_item(Assignment.objects.filter(pk=pk)), UUID)


def _with_item(assignments: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Return assignments with the related rows that their pages need."""
    return assignments.select_related("item__tokenization__document")


class _Eligibility(NamedTuple):
    """What is read before a claim: the reason to refuse it, or the data that it needs."""

    refusal: Reason | None
    submitted: int
    guideline_id: int
    is_unread: bool  # a version of the guidelines that this person has not read yet
    # Whether this person gave anything back here, or has a slot put aside that is due. True where it is not known yet.
    gave_back: bool
    is_injected: bool


def _eligibility_query(campaign_id: UUID, surrogate_id: UUID) -> QuerySet[Campaign, Any]:
    own = {"campaign_id": campaign_id, "surrogate_id": surrogate_id}
    here = Participation.objects.filter(**own)
    ended = Assignment.objects.filter(**own, state__in=GIVEN_BACK)
    due = Injection.objects.filter(**own, slot__state=SlotState.ASIDE, position__lte=Subquery(here.values("served")))
    guidelines = Guideline.objects.filter(campaign_id=campaign_id).order_by("-version")
    consents = Consent.objects.filter(consent_of(scope_id=campaign_id, surrogate_id=surrogate_id))
    return Campaign.objects.filter(pk=campaign_id).values_list(
        "state",
        "quota",
        "has_training",
        Exists(consents),
        Exists(TrainingExample.objects.filter(campaign_id=campaign_id)),
        *(Subquery(here.values(name)) for name in ("standing", "submitted", "trained_at", "guideline")),
        Subquery(guidelines.values("pk")[:1]),
        Exists(ended),
        Exists(due),
    )


_ELIGIBILITY = Statement(_eligibility_query, UUID, UUID)


def _eligibility(campaign: Campaign, surrogate_id: UUID, place: Participation | None) -> _Eligibility:
    """Read in one statement all data that decides whether this person gets work now, and which."""
    [(state, quota, has_training, agreed, teaches, *own, guideline_id, gave_back, is_injected)] = _ELIGIBILITY.rows(
        campaign.pk, surrogate_id
    )
    standing, submitted, trained_at, read = own
    refusal = None
    if state != CampaignState.OPEN:
        refusal = Reason.PAUSED if state == CampaignState.PAUSED else Reason.NOTHING_OPEN
    elif not agreed:
        refusal = Reason.CONSENT_NEEDED
    elif has_training and teaches and not trained_at:
        refusal = Reason.TRAINING_NEEDED
    elif standing in (Standing.PAUSED, Standing.SUSPENDED):
        refusal = Reason.SUSPENDED
    elif quota is not None and (submitted or 0) >= quota:
        refusal = Reason.QUOTA_REACHED
    # Without the lock, another tab may change the rest before the claim; a newcomer's checks are not planned yet.
    return _Eligibility(
        refusal,
        submitted or 0,
        guideline_id,
        read not in (None, guideline_id),
        bool(gave_back) or place is None,
        bool(is_injected) or place is None,
    )


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


class _Claiming(NamedTuple):
    """The arguments of a claim: who claims, in which campaign, and for how long."""

    campaign: Campaign
    surrogate_id: UUID
    state: AssignmentState
    seconds: int
    now: datetime


_PASS_ON = Update(
    lambda pk, position, more, guideline: (
        Participation.objects.filter(pk=pk),
        # Who begins has the guidelines before them; from then on, a change is shown and they say that they read it.
        {"cursor": position, "served": F("served") + more, "guideline": Coalesce(F("guideline"), guideline)},
    ),
    int,
    int,
    int,
    int,
)


def _claim(claiming: _Claiming, eligible: _Eligibility, place: Participation | None) -> Claim:
    campaign, surrogate_id, state = claiming.campaign, claiming.surrogate_id, claiming.state
    if place is None:
        place = participation_lock(campaign_id=campaign.pk, surrogate_id=surrogate_id)
        if (theirs := _own(campaign, surrogate_id).get(state)) is not None:
            return Claim(theirs)  # another tab of the same person was quicker
    queue_catch_up(place)
    is_planned = place.served < place.planned_to
    if not is_planned:
        participation_advanced.send(sender=Participation, place=place, now=claiming.now)
    search = QueueSearch(campaign, surrogate_id)
    own = _given_back(place) if eligible.gave_back else None
    if own is not None:
        return _assign(claiming, eligible, own.pk, own.item_id)
    injected = _injected(place) if eligible.is_injected or not is_planned else None
    slot = injected or _from_queue(place, search)
    _PASS_ON.run(place.pk, max(place.cursor, search.position), int(slot is not None), eligible.guideline_id)
    if slot is None:
        return _nothing(campaign, search)
    return _assign(claiming, eligible, slot.pk, slot.item_id)


def _from_queue(place: Participation, search: QueueSearch) -> HeldSlot | None:
    """Hold and return the next slot along the queue that suits this person."""
    slot = search.first(after=place.cursor) or search.first(reopened=True)
    if slot is None and place.cursor:
        # A slot that was locked while this person passed by, and then left open: rare, so one look is enough.
        slot = search.first(before=place.cursor, looks=1)
    return slot


def _given_back_query(campaign_id: UUID, surrogate_id: UUID) -> QuerySet[Assignment]:
    own = Assignment.objects.filter(campaign_id=campaign_id, surrogate_id=surrogate_id, state__in=GIVEN_BACK)
    free = own.filter(
        slot__state__in=[SlotState.OPEN, SlotState.ASIDE],
        item__state=ItemState.ACTIVE,
        item__batch__state=BatchState.OPEN,
    )
    seen = Exists(seen_by(surrogate_id).filter(item=OuterRef("item")))
    return free.exclude(seen).select_related("slot").order_by("-ended_at", "pk")[:1]


_GIVEN_BACK = Statement(_given_back_query, UUID, UUID)


def _given_back(place: Participation) -> Slot | None:
    """Hold and return the slot that an annotator last gave back or let expire, if it is still free.

    Open slots and slots reserved for this person are searched in the same way. If only one kind were offered again, an
    item that returns would reveal whether its answer is known.
    """
    ended = _GIVEN_BACK.first(place.campaign_id, place.surrogate_id)
    if ended is None:
        return None
    return ended.slot if slot_hold(slot_id=ended.slot_id, before=SlotState(ended.slot.state)) else None


def _injected_query(campaign_id: UUID, surrogate_id: UUID, place_id: int) -> QuerySet[Injection]:
    served = Participation.objects.filter(pk=place_id).values("served")
    due = Injection.objects.filter(
        campaign_id=campaign_id,
        surrogate_id=surrogate_id,
        position__lte=Subquery(served),
        slot__state=SlotState.ASIDE,
        slot__item__state=ItemState.ACTIVE,
    )
    seen = Exists(seen_by(surrogate_id).filter(item=OuterRef("slot__item")))
    return due.exclude(seen).select_related("slot").order_by("position", "pk")[:1]


_INJECTED = Statement(_injected_query, UUID, UUID, int)


def _injected(place: Participation) -> HeldSlot | None:
    """Hold and return the slot that is reserved for this person at this point, if there is one.

    Every claim has checked whether there may be one. This query also reads how many items the person has received.
    """
    injection = _INJECTED.first(place.campaign_id, place.surrogate_id, place.pk)
    if injection is None or not slot_hold(slot_id=injection.slot_id, before=SlotState.ASIDE):
        return None
    return HeldSlot(injection.slot_id, injection.slot.item_id, injection.slot.order_key)


_INSERT = Insert(Assignment)
_ENDED = Statement(
    lambda item_id, surrogate_id: Assignment.objects.filter(
        item_id=item_id, surrogate_id=surrogate_id, state__in=GIVEN_BACK
    ).order_by("-claimed_at", "pk")[:1],
    int,
    UUID,
)


def _assign(claiming: _Claiming, eligible: _Eligibility, slot_id: int, item_id: int) -> Claim:
    campaign, surrogate_id, now = claiming.campaign, claiming.surrogate_id, claiming.now
    kept = _ENDED.first(item_id, surrogate_id) if eligible.gave_back else None
    assignment = Assignment(
        campaign=campaign,
        item_id=item_id,
        slot_id=slot_id,
        surrogate_id=surrogate_id,
        guideline_id=eligible.guideline_id,
        state=claiming.state,
        claimed_at=now,
        deadline_at=now + timedelta(seconds=claiming.seconds),
        draft=kept.draft if kept else {},
        draft_version=1 if kept and kept.draft else 0,
    )
    _INSERT.run(assignment)
    if isinstance(TASK_TYPES[campaign.task_type], FollowedUp):
        bars_meet(item_id=item_id, surrogate_id=surrogate_id)
    return Claim(_WITH_ITEM.first(assignment.pk))


def _nothing(campaign: Campaign, search: QueueSearch) -> Claim:
    """Return why there is no slot: the person has seen all open items, others hold the rest, or nothing is left."""
    open_slots = Slot.objects.filter(campaign=campaign, state=SlotState.OPEN, item__state=ItemState.ACTIVE)
    if open_slots.filter(search.is_past()).exists():
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
