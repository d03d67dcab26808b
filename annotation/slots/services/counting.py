"""Decide which annotations count: the only writer of annotation states, slot states and people's tallies.

Each function is a step of a larger transaction. Rows are locked in one order everywhere: person, ticket,
assignment, annotation, item, slot (docs/explanation/work-distribution.md).
"""

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from annotation.models import (
    FILLING,
    ONCE_PER_PERSON,
    TALLIED,
    Annotation,
    AnnotationState,
    Assignment,
    AssignmentState,
    CountedChange,
    Item,
    ItemBar,
    ItemState,
    Participation,
    Slot,
    SlotState,
    Split,
    Standing,
)
from annotation.slots.services.participation_locks import people_lock
from database.statements import Insert, Statement, Update
from database.transactions import require_transaction

State = AnnotationState
TWICE = "annotated before in another visit"
SUSPENDED = "suspended"  # why the work of an annotator who was suspended is excluded
FEW = 4  # the most rows for which a statement is compiled; a ticket rarely has more answers


# --- Annotations ----------------------------------------------------------------------------------


_INSERT = Insert(Annotation)
_FILL = Update(lambda pk: (Slot.objects.filter(pk=pk), {"state": SlotState.FILLED}), int)
_TALLY = Update(
    lambda campaign_id, surrogate_id, change: (
        Participation.objects.filter(campaign_id=campaign_id, surrogate_id=surrogate_id),
        {"submitted": F("submitted") + change},
    ),
    UUID,
    UUID,
    int,
)


def annotation_enter(annotation: Annotation) -> Annotation:
    """Save a new annotation with the state that it begins in; the caller holds the person's lock."""
    require_transaction()
    _INSERT.run(annotation)
    if annotation.state in FILLING:
        assert annotation.slot_id is not None
        _FILL.run(annotation.slot_id)
    if annotation.state in TALLIED:
        _TALLY.run(annotation.campaign_id, annotation.surrogate_id, 1)
    return annotation


def annotations_exclude(
    *, annotations: Collection[Annotation], because: str, actor_id: UUID | None, now: datetime
) -> int:
    """Keep annotations but stop counting them; their slots reopen. Return how many were counted."""
    return len(_move(annotations, State.COUNTED, State.EXCLUDED, because, actor_id, now))


def annotation_count_again(*, annotation: Annotation, because: str, actor_id: UUID | None, now: datetime) -> bool:
    """Count an excluded annotation again if its slot is free and its item active; return whether it counts."""
    require_transaction()
    places = people_lock(campaign_id=annotation.campaign_id, surrogate_ids=[annotation.surrogate_id])
    if any(place.standing == Standing.SUSPENDED for place in places):
        return False
    held = Annotation.objects.select_for_update(of=("self",), no_key=True).select_related("item", "slot__injection")
    row = held.get(pk=annotation.pk)
    if (
        row.state != State.EXCLUDED
        or row.item.state != ItemState.ACTIVE
        or _has_another(row)
        or not _slot_take_back(row)
    ):
        return False
    return bool(_write([row], State.COUNTED, because, actor_id, now))


def submissions_confirm(*, annotations: Collection[Annotation], now: datetime) -> int:
    """Count provisional submissions, and return how many are counted.

    A submission that was given up counts if its slot is still free, else it is surplus. The work of a suspended
    annotator is excluded, and work on a retired item is marked.
    """
    require_transaction()
    counted = 0
    for row in _locked(annotations, (State.PROVISIONAL, State.GIVEN_UP), also_sealed=True):
        to, because = _confirmed_state(row)
        if row.state == State.GIVEN_UP and to == State.COUNTED and (_has_another(row) or not _slot_take_back(row)):
            to = State.SURPLUS
        _write([row], to, because, None, now)
        counted += to == State.COUNTED
    return counted


def _confirmed_state(row: Annotation) -> tuple[AnnotationState, str]:
    if _IS_SUSPENDED.rows(row.campaign_id, row.surrogate_id):
        return State.EXCLUDED, SUSPENDED
    return (State.COUNTED if row.item.state == ItemState.ACTIVE else State.RETIRED), ""


_IS_SUSPENDED = Statement(
    lambda campaign_id, surrogate_id: Participation.objects.filter(
        campaign_id=campaign_id, surrogate_id=surrogate_id, standing=Standing.SUSPENDED
    ).values_list("pk"),
    UUID,
    UUID,
)


def submissions_give_up(*, annotations: Collection[Annotation], because: str, now: datetime) -> int:
    """Put the slots of provisional submissions back for others; return how many were given up."""
    return len(_move(annotations, State.PROVISIONAL, State.GIVEN_UP, because, None, now))


def submission_take_back(*, annotation: Annotation, now: datetime) -> bool:
    """Mark a counted submission as undone and return its slot to its author; return whether that was possible."""
    require_transaction()
    people_lock(campaign_id=annotation.campaign_id, surrogate_ids=[annotation.surrogate_id])
    rows = [row for row in _locked([annotation], (State.COUNTED,)) if row.item.state == ItemState.ACTIVE]
    if not rows:
        return False
    _write(rows, State.UNDONE, "", None, now, releases=False)
    slots = Slot.objects.filter(pk__in=[row.slot_id for row in rows if row.slot_id], state=SlotState.FILLED)
    return bool(slots.update(state=SlotState.HELD))


def submission_come_back(*, annotation: Annotation, now: datetime) -> bool:
    """Count an undone submission again, unchanged: its author let the time for changing it pass.

    The service that ended the assignment holding the slot calls this, with the annotator's lock. Return whether the
    submission counts.
    """
    require_transaction()
    rows = [row for row in _locked([annotation], (State.UNDONE,)) if row.item.state == ItemState.ACTIVE]
    held = Slot.objects.filter(pk__in=[row.slot_id for row in rows if row.slot_id], state=SlotState.HELD)
    if not rows or not held.update(state=SlotState.FILLED):
        return False
    Assignment.objects.filter(annotation=annotation).update(state=AssignmentState.SUBMITTED)
    return bool(_write(rows, State.COUNTED, "reopened, not resubmitted", None, now))


def submissions_withdraw(*, campaign_id: UUID, surrogate_id: UUID, now: datetime) -> int:
    """Withdraw everything that an annotator submitted, in any state, for good. Return how many."""
    require_transaction()
    own = Annotation.objects.filter(campaign_id=campaign_id, surrogate_id=surrogate_id).exclude(state=State.WITHDRAWN)
    rows = list(own.select_for_update(of=("self",), no_key=True).select_related("item").order_by("pk"))
    return len(_write(rows, State.WITHDRAWN, "", None, now))


def submissions_adopt(*, campaign_id: UUID, before: UUID, after: UUID, now: datetime) -> list[Annotation]:
    """Move the submissions of one surrogate to another of the same annotator; the caller holds both locks.

    If the other surrogate already submitted or holds the item, or is barred from it (`ItemBar`), the submission isn't
    moved and doesn't count. Return these submissions.
    """
    require_transaction()
    held = Assignment.objects.filter(campaign_id=campaign_id, surrogate_id=after, state__in=ONCE_PER_PERSON)
    barred = ItemBar.objects.filter(item__campaign_id=campaign_id, surrogate_id=after)
    items = {*held.values_list("item_id", flat=True), *barred.values_list("item_id", flat=True)}
    own = Annotation.objects.filter(campaign_id=campaign_id, surrogate_id=before)
    rows = list(
        own.select_for_update(of=("self",), no_key=True).select_related("item", "slot__injection").order_by("pk")
    )
    twice = [row for row in rows if row.item_id in items]
    _write([row for row in twice if row.state == State.PROVISIONAL], State.GIVEN_UP, TWICE, None, now)
    _write([row for row in twice if row.state == State.COUNTED], State.EXCLUDED, TWICE, None, now)
    moved = [row for row in rows if row.item_id not in items]
    Annotation.objects.filter(pk__in=[row.pk for row in moved]).update(surrogate_id=after)
    tally = sum(row.state in TALLIED for row in moved)
    _tally(campaign_id, {before: -tally, after: tally})
    return twice


def _move(
    annotations: Collection[Annotation],
    before: AnnotationState,
    after: AnnotationState,
    because: str,
    actor_id: UUID | None,
    now: datetime,
) -> list[Annotation]:
    require_transaction()
    for campaign_id in {row.campaign_id for row in annotations}:
        people_lock(campaign_id=campaign_id, surrogate_ids=[row.surrogate_id for row in annotations])
    return _write(_locked(annotations, (before,)), after, because, actor_id, now)


def _locked(
    annotations: Collection[Annotation], states: Collection[str], *, also_sealed: bool = False
) -> list[Annotation]:
    """Lock the given annotations in these states, and return their current rows.

    Annotations of sealed splits are left out. Only withdrawals change their states, because numbers that change with one
    annotation would reveal it.
    """
    keys = sorted(row.pk for row in annotations)
    if len(keys) > FEW:
        found = list(_rows(keys, states))
    else:
        found = _few_rows(len(keys), tuple(states)).instances(*keys) if keys else []
    if also_sealed or not found:
        return found
    # Looked at with the locks, for which sealing waits: no split is sealed between the look and the change.
    sealed = Split.objects.filter(pk__in={row.item.split_id for row in found}).exclude(sealed_at=None)
    hidden = set(sealed.values_list("pk", flat=True))
    return [row for row in found if row.item.split_id not in hidden]


def _rows(keys: Any, states: Collection[str]) -> QuerySet[Annotation]:
    rows = Annotation.objects.filter(pk__in=keys, state__in=states)
    return rows.select_for_update(of=("self",), no_key=True).select_related("item", "slot__injection").order_by("pk")


@cache
def _few_rows(rows: int, states: tuple[str, ...]) -> Statement:
    return Statement(lambda *keys: _rows(keys, states), *[int] * rows)


def _write(
    rows: Collection[Annotation],
    after: AnnotationState,
    because: str,
    actor_id: UUID | None,
    now: datetime,
    *,
    releases: bool = True,
) -> list[Annotation]:
    """Set one state on locked annotations, record the changes, and update slots and tallies."""
    changed = [row for row in rows if row.state != after]
    changes = [
        CountedChange(
            annotation=row, before=row.state, after=after, because=because[:300], changed_by_id=actor_id, at=now
        )
        for row in changed
    ]
    if len(changes) <= FEW and after != State.SURPLUS:
        for change in changes:
            _CHANGE.run(change)
            _TURN.run(change.annotation_id, after)
    else:
        CountedChange.objects.bulk_create(changes)
        surplus = {"slot": None} if after == State.SURPLUS else {}
        Annotation.objects.filter(pk__in=[row.pk for row in changed]).update(state=after, is_examined=False, **surplus)
    if releases and after not in FILLING:
        slots_release(slot_ids=[row.slot_id for row in changed if row.state in FILLING and row.slot_id is not None])
    by_campaign: dict[UUID, Counter[UUID]] = {}
    for row in changed:
        by_campaign.setdefault(row.campaign_id, Counter())[row.surrogate_id] += (after in TALLIED) - (
            row.state in TALLIED
        )
        row.state = after
    for campaign_id, tallies in by_campaign.items():
        _tally(campaign_id, tallies)
    return changed


_CHANGE = Insert(CountedChange)
_TURN = Update(lambda pk, after: (Annotation.objects.filter(pk=pk), {"state": after, "is_examined": False}), int, str)


def _tally(campaign_id: UUID, changes: dict[UUID, int]) -> None:
    for surrogate_id, change in changes.items():
        if change:
            _TALLY.run(campaign_id, surrogate_id, change)


def _has_another(row: Annotation) -> bool:
    """Return whether the author of an annotation that stopped counting holds or fills another slot of the item."""
    held = Assignment.objects.filter(
        item_id=row.item_id, surrogate_id=row.surrogate_id, state__in=[AssignmentState.LIVE, AssignmentState.RESERVED]
    )
    filling = Annotation.objects.filter(item_id=row.item_id, surrogate_id=row.surrogate_id, state__in=FILLING)
    return held.exists() or filling.exists()


def _slot_take_back(row: Annotation) -> bool:
    """Fill the slot of an annotation that is to count again, if the slot is free for its author."""
    if row.slot is None:
        return False
    injection = getattr(row.slot, "injection", None)
    if injection is not None and injection.surrogate_id != row.surrogate_id:
        return False
    free = SlotState.OPEN if injection is None else SlotState.ASIDE
    return bool(Slot.objects.filter(pk=row.slot.pk, state=free).update(state=SlotState.FILLED))


# --- Slots ----------------------------------------------------------------------------------------


def slot_hold(*, slot_id: int, before: SlotState = SlotState.OPEN) -> bool:
    """Take a free slot for an assignment; the row count decides who is first."""
    require_transaction()
    return bool(Slot.objects.filter(pk=slot_id, state=before).update(state=SlotState.HELD))


class HeldSlot(NamedTuple):
    """A slot that was taken from the queue."""

    pk: int
    item_id: int
    order_key: int


# One statement, because every claim of an ordinary item takes it: the first of some slots that is still open, passing
# over those that another claim takes at this moment.
_HOLD_FIRST = """
UPDATE annotation_slot SET state = 'held' WHERE id = (
  SELECT slot.id FROM annotation_slot slot
  JOIN annotation_item item ON item.id = slot.item_id
  JOIN annotation_batch batch ON batch.id = item.batch_id
  WHERE slot.id IN ({marks}) AND slot.state = 'open' AND item.state = 'active' AND batch.state = 'open'
  ORDER BY slot.order_key, slot.id LIMIT 1 {lock}
) AND state = 'open' RETURNING id, item_id, order_key"""


def slot_hold_first(*, slot_ids: Sequence[int]) -> HeldSlot | None:
    """Take and return the first of some slots of the queue that is still free; the row count decides who is first."""
    require_transaction()
    if not slot_ids:
        return None
    lock = "FOR NO KEY UPDATE OF slot SKIP LOCKED" if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        cursor.execute(_HOLD_FIRST.format(marks=", ".join(["%s"] * len(slot_ids)), lock=lock), list(slot_ids))
        row = cursor.fetchone()
    return HeldSlot(*row) if row else None


def slots_release(*, slot_ids: Collection[int]) -> None:
    """Release slots: open to anyone, reserved for the person of an injection, or closed if no longer wanted."""
    require_transaction()
    if not slot_ids:
        return
    # Locked first, so that a round or an item that is being closed at this moment is seen as closed.
    list(Slot.objects.filter(pk__in=slot_ids).select_for_update(no_key=True).order_by("pk").values_list("pk"))
    slots = Slot.objects.filter(pk__in=slot_ids, state__in=[SlotState.HELD, SlotState.FILLED])
    slots.filter(Q(item__state=ItemState.RETIRED) | Q(is_wanted=False)).update(state=SlotState.CLOSED)
    slots.filter(injection__isnull=False).update(state=SlotState.ASIDE)
    slots.update(state=SlotState.OPEN, is_reopened=True)


def item_slots_close(*, item: Item, only_aside: bool = False) -> None:
    """Close the slots of a retired item, or only those reserved for one person; filled slots stay."""
    require_transaction()
    states = [SlotState.ASIDE] if only_aside else [SlotState.OPEN, SlotState.HELD, SlotState.ASIDE]
    Slot.objects.filter(item=item, state__in=states).update(state=SlotState.CLOSED)


def round_slots_want(*, item: Item, round_: int) -> int:
    """Want the slots of a round again, and open those that were closed; return how many were opened."""
    require_transaction()
    slots = Slot.objects.filter(item=item, round=round_)
    slots.filter(is_wanted=False).update(is_wanted=True)
    filled = Annotation.objects.filter(slot=OuterRef("pk"), state__in=FILLING)
    return slots.filter(~Exists(filled), state=SlotState.CLOSED).update(state=SlotState.OPEN, is_reopened=True)


def round_slots_close(*, item: Item, round_: int) -> int:
    """Mark a round's slots as unwanted: open ones close, held ones can be finished. Return how many closed."""
    require_transaction()
    slots = Slot.objects.filter(item=item, round=round_)
    slots.filter(is_wanted=True).update(is_wanted=False)
    return slots.filter(state=SlotState.OPEN).update(state=SlotState.CLOSED)
