"""Save a HIT after a change: its state, the money held for it, and the time of its next time-based event."""

from datetime import datetime
from decimal import Decimal
from functools import partial

from django.db.models import QuerySet

from database.statements import Save, Statement
from marketplace.models import Assignment, Hit, HitType, LedgerEntry, Requester
from marketplace.protocol.errors import RequestError
from marketplace.protocol.lifecycle import DISPOSED, DISPOSED_AFTER, REVIEWABLE, REVIEWING, hit_state
from marketplace.services.ledger import ledger_post
from marketplace.services.notifications import event_emit

State = Assignment.State


_SAVE = Save(Hit)
_LOCKED = Statement(lambda hit_id: Hit.objects.select_for_update(no_key=True).filter(hit_id=hit_id), str)

_TYPE = Statement(lambda pk: HitType.objects.filter(pk=pk), int)


def _earliest_query(hit: int, *, state: Assignment.State, name: str) -> QuerySet[Assignment]:
    times = Assignment.objects.filter(hit_id=hit, state=state, **{f"{name}__isnull": False})
    return times.only("pk", name).order_by(name)[:1]


_EARLIEST = {
    name: Statement(partial(_earliest_query, state=state, name=name), int)
    for state, name in ((State.ACCEPTED, "deadline_at"), (State.SUBMITTED, "auto_approval_at"))
}


def hit_lock(hit_id: str, *, requester: Requester | None = None) -> Hit:
    """Return a locked HIT; another requester's HIT counts as missing.

    Only the row is locked, without joins and not its key. A join would lose the row if the HIT's type changes
    meanwhile. A key lock would block rows that refer to the HIT (a bonus), while its holder may wait for their locks.
    """
    hit: Hit | None = _LOCKED.first(hit_id)
    if hit is None or (requester is not None and hit.requester_id != requester.pk):
        raise RequestError("HITDoesNotExist", f"Hit {hit_id} does not exist.")
    return hit


def hit_type_read(hit: Hit) -> HitType:
    """Return the type of a HIT, which is read at most once for an instance."""
    if not Hit.hit_type.is_cached(hit):
        hit.hit_type = _TYPE.first(hit.hit_type_id)
    return hit.hit_type


def hit_settle(hit: Hit, *, at: datetime) -> None:
    """Save a locked HIT after a change of its counters, expiry or state: state, held money, next due time, events."""
    before = hit.state
    hit.state = hit_state(before=before, available=hit.available, pending=hit.pending, expired=hit.is_expired)
    if hit.state not in (REVIEWABLE, REVIEWING):
        hit.reviewable_at = None
    elif hit.reviewable_at is None:
        hit.reviewable_at = at
    _hold(hit, at)
    hit.due_at = next_due(hit)[0]
    if hit._state.adding:  # noqa: SLF001  Django's documented way to know
        hit.save()
    else:
        _SAVE.run(hit)
    if hit.state != before and hit.state == REVIEWABLE and before != REVIEWING:
        event_emit(event="HITReviewable", hit=hit, at=at)


def next_due(hit: Hit) -> tuple[datetime | None, str]:
    """Return the time and kind of a HIT's next time-based event: abandon, expire, approve or dispose.

    Events that are due at the same time occur in that order.
    """
    if hit.state == DISPOSED:
        return None, ""
    candidates: list[tuple[datetime, int, str]] = []
    if hit.pending and (deadline := _earliest(hit, "deadline_at")):
        candidates.append((deadline, 0, "abandon"))
    if hit.undecided and (approval := _earliest(hit, "auto_approval_at")):
        candidates.append((approval, 2, "approve"))
    if not hit.is_expired:
        candidates.append((hit.expires_at, 1, "expire"))
    if hit.reviewable_at and not hit.undecided:
        candidates.append((hit.reviewable_at + DISPOSED_AFTER, 3, "dispose"))
    if not candidates:
        return None, ""
    at, _, what = min(candidates)
    return at, what


def _earliest(hit: Hit, name: str) -> datetime | None:
    """Return the earliest of the HIT's times of one kind, with a single index lookup."""
    first = _EARLIEST[name].first(hit.pk)
    return getattr(first, name) if first is not None else None


def _hold(hit: Hit, at: datetime) -> None:
    """Hold exactly the money that the open, pending and undecided assignments may cost."""
    places = hit.pending + hit.undecided + (0 if hit.is_expired else hit.available)
    wanted: Decimal = hit.cost_each * places
    change = wanted - hit.held
    if change:
        hit.held = wanted
        ledger_post(
            requester_id=hit.requester_id,
            kind=LedgerEntry.Kind.HOLD if change > 0 else LedgerEntry.Kind.RELEASE,
            at=at,
            hit=hit if hit.pk else None,
            available=-change,
            held=change,
        )
