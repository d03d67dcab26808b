"""Time-based events: deadlines, expiry, automatic approval, disposal.

One function applies the events of a HIT in order, each with the time at which it was due. The function is called for
a HIT before the HIT changes, for a requester or a worker before their data is read, and by the sweep
for all HITs, so that all callers see the same history.
"""

import logging
from datetime import datetime, timedelta
from typing import Any

from django.db import OperationalError, transaction
from django.db.models import QuerySet

from database.statements import Statement
from marketplace.models import Assignment, Hit, Requester, Worker
from marketplace.services.decisions import assignment_approve_now, assignment_end, hit_dispose
from marketplace.services.notifications import event_emit
from marketplace.services.settle import hit_settle, next_due

_LOG = logging.getLogger(__name__)
State = Assignment.State
# Events of one HIT in one transaction: nobody waits long for a HIT with thousands of them.
EVENTS_AT_A_TIME = 25
# What a request carries out before it answers; the sweep does what is left.
AT_MOST_BEFORE_AN_ANSWER = 10
_PUT_ASIDE = timedelta(minutes=5)


def _first_due(now: datetime, **of: Any) -> QuerySet[Hit, Any]:
    return Hit.objects.filter(due_at__lte=now, **of).order_by("due_at", "pk").values_list("pk")[:1]


def _first_due_with(now: datetime, worker: int) -> QuerySet[Hit, Any]:
    mine = Assignment.objects.filter(worker_id=worker, state__in=[State.ACCEPTED, State.SUBMITTED])
    return _first_due(now, pk__in=mine.values("hit"))


_DUE = Statement(_first_due, datetime)
_DUE_OF_REQUESTER = Statement(lambda now, requester: _first_due(now, requester_id=requester), datetime, int)
_DUE_WITH_WORKER = Statement(_first_due_with, datetime, int)


def due_carry_out(
    *, now: datetime, requester: Requester | None = None, worker: Worker | None = None, most: int | None = None
) -> int:
    """Apply the due events of HITs (of a requester, or with a worker's assignments); return the number of steps.

    A step is up to ``EVENTS_AT_A_TIME`` events of one HIT, committed together. A HIT that raises an error is
    logged and skipped for a while, so that it doesn't block the others.
    """
    steps = 0
    while most is None or steps < most:
        if worker is not None:
            found = _DUE_WITH_WORKER.rows(now, worker.pk)
        else:
            found = _DUE_OF_REQUESTER.rows(now, requester.pk) if requester is not None else _DUE.rows(now)
        if not found:
            break
        [(pk,)] = found
        try:
            _step(pk, now)
        except OperationalError:  # a lock, a lost connection: it stays due, and the next call does it
            _LOG.warning("HIT %s is left for later", pk, exc_info=True)
            break
        steps += 1
    return steps


def hit_advance(hit: Hit, *, now: datetime, most: int | None = None) -> None:
    """Apply a locked HIT's due events: all of them, or the first ``most``."""
    if hit.due_at is None or hit.due_at > now:
        return
    done = 0
    at, what = next_due(hit)
    while at is not None and at <= now and (most is None or done < most):
        _carry_out(hit, what, at)
        at, what = next_due(hit)
        done += 1
    if done == 0:  # what was noted is no longer so
        hit.due_at = at
        hit.save(update_fields=["due_at"])


def _step(pk: int, now: datetime) -> None:
    try:
        with transaction.atomic():
            hit = Hit.objects.select_for_update(no_key=True).get(pk=pk)
            hit_advance(hit, now=now, most=EVENTS_AT_A_TIME)
    except OperationalError:
        raise
    except Exception:  # noqa: BLE001 - one HIT must not stop all others
        _LOG.exception("HIT %s cannot be carried out", pk)
        Hit.objects.filter(pk=pk).update(due_at=now + _PUT_ASIDE)


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
