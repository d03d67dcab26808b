"""What time alone does: deadlines, expiry, automatic approval, disposal.

One function carries it out, event by event and in order, at the moment each was due. It is called for
a HIT before anything reads or changes it, and by the sweep for all: both see the same past.
"""

from datetime import datetime

from django.db import transaction

from marketplace.models import Assignment, Hit, Requester
from marketplace.services.decisions import assignment_approve_now, assignment_end, hit_dispose
from marketplace.services.notifications import event_emit
from marketplace.services.settle import hit_lock, hit_settle, next_due

State = Assignment.State


def due_carry_out(*, now: datetime, requester: Requester | None = None, most: int | None = None) -> int:
    """Bring every HIT (of a requester) up to date; return how many HITs changed."""
    done = 0
    while most is None or done < most:
        due = Hit.objects.filter(due_at__lte=now).order_by("due_at", "pk")
        if requester is not None:
            due = due.filter(requester=requester)
        hit_id = due.values_list("hit_id", flat=True).first()
        if hit_id is None:
            break
        with transaction.atomic():
            hit_advance(hit_lock(hit_id), now=now)
        done += 1
    return done


def hit_advance(hit: Hit, *, now: datetime) -> None:
    """Carry out everything that time has brought to a locked HIT."""
    if hit.due_at is None or hit.due_at > now:
        return
    at, what = next_due(hit)
    while at is not None and at <= now:
        _carry_out(hit, what, at)
        at, what = next_due(hit)


def _carry_out(hit: Hit, what: str, at: datetime) -> None:
    if what == "abandon":
        late = hit.assignments.filter(state=State.ACCEPTED, deadline_at=at).order_by("pk")[0]
        assignment_end(late, hit, state=State.ABANDONED, at=at)
    elif what == "expire":
        event_emit(event="HITExpired", hit=hit, at=at)
        hit.is_expired = True
        hit_settle(hit, at=at)
    elif what == "approve":
        waiting = hit.assignments.filter(state=State.SUBMITTED, auto_approval_at=at).order_by("pk")[0]
        assignment_approve_now(waiting, hit, at=at)
    else:
        hit_dispose(hit, at)
