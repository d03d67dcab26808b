"""Write a HIT after a change: its state, the money held for it, and when time alone changes it next."""

from datetime import datetime
from decimal import Decimal

from django.db.models import Min, Q

from marketplace.models import Assignment, Hit, LedgerEntry, Requester
from marketplace.protocol.errors import RequestError
from marketplace.protocol.lifecycle import DISPOSED, DISPOSED_AFTER, REVIEWABLE, REVIEWING, hit_state
from marketplace.services.ledger import ledger_post
from marketplace.services.notifications import event_emit

State = Assignment.State


def hit_lock(hit_id: str, *, requester: Requester | None = None) -> Hit:
    """Return a HIT, locked; another requester's HIT does not exist."""
    rows = Hit.objects.select_for_update(of=("self",)).select_related("hit_type", "requester")
    hit = rows.filter(hit_id=hit_id).first()
    if hit is None or (requester is not None and hit.requester_id != requester.pk):
        raise RequestError("HITDoesNotExist", f"Hit {hit_id} does not exist.")
    return hit


def hit_settle(hit: Hit, *, at: datetime) -> None:
    """Write a locked HIT after its counters, expiry or state changed: state, held money, next due time, events."""
    before = hit.state
    hit.state = hit_state(before=before, available=hit.available, pending=hit.pending, expired=hit.is_expired)
    if hit.state not in (REVIEWABLE, REVIEWING):
        hit.reviewable_at = None
    elif hit.reviewable_at is None:
        hit.reviewable_at = at
    _hold(hit, at)
    hit.due_at = next_due(hit)[0]
    hit.save()
    if hit.state != before and hit.state == REVIEWABLE and before != REVIEWING:
        event_emit(event="HITReviewable", hit=hit, at=at)


def next_due(hit: Hit) -> tuple[datetime | None, str]:
    """Return when time alone changes something about a HIT, and what: abandon, expire, approve or dispose.

    What is due at the same moment comes in that order.
    """
    if hit.state == DISPOSED:
        return None, ""
    candidates: list[tuple[datetime, int, str]] = []
    if hit.pending or hit.undecided:
        times = hit.assignments.aggregate(
            deadline=Min("deadline_at", filter=Q(state=State.ACCEPTED)),
            approval=Min("auto_approval_at", filter=Q(state=State.SUBMITTED)),
        )
        candidates += [(times["deadline"], 0, "abandon")] if times["deadline"] else []
        candidates += [(times["approval"], 2, "approve")] if times["approval"] else []
    if not hit.is_expired:
        candidates.append((hit.expires_at, 1, "expire"))
    if hit.reviewable_at and not hit.undecided:
        candidates.append((hit.reviewable_at + DISPOSED_AFTER, 3, "dispose"))
    if not candidates:
        return None, ""
    at, _, what = min(candidates)
    return at, what


def _hold(hit: Hit, at: datetime) -> None:
    """Hold what the open, pending and undecided assignments may cost: no more and no less."""
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
