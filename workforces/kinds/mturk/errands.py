"""Sending errands to the marketplace: due, sending, confirmed. Every call is outside of a transaction.

A worker can die between any two lines. Before the call, the row is set to ``sending``. The next worker sees
that, and either sends the same token again (the marketplace remembers it for a day) or reads the state back first.
"""

import logging
from contextlib import suppress
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from accounts.audit import record
from database.transactions import is_transient
from jobs.work import LeaseLost, Work, WorkerStopping
from workforces.kinds.mturk.client import Market, Refused, Unreachable
from workforces.kinds.mturk.errand_calls import CALLS, Attempt, Unknown, exclusion_id
from workforces.kinds.mturk.inflight import run_in_flight
from workforces.kinds.mturk.pay import refusal_make_good
from workforces.kinds.mturk.turns import due_in_turns, is_exclusion_due
from workforces.models import (
    Errand,
    ErrandKind,
    ErrandState,
    Workforce,
)
from workforces.services.outbox import OVERRIDE

logger = logging.getLogger(__name__)

# Refusals that a person can fix at the marketplace or in the settings: the same errand is tried again.
FOR_NOW = (
    "InsufficientFunds",
    "UnrecognizedClient",
    "InvalidSignature",
    "InvalidClientTokenId",
    "AccessDenied",
    "NotAuthorized",
)


def errands_run(*, work: Work, market: Market, workforce: Workforce, seconds: float) -> tuple[int, bool]:
    """Send due errands for some seconds, several at once; return the number confirmed, and whether all were started.

    The kinds take turns, so that ten thousand approvals don't delay a posting, or the reverse.
    """
    confirmed: list[int] = []
    if not workforce.remote.get("exclusion") and is_exclusion_due(workforce):
        with suppress(Refused):  # each errand that needs it meets the refusal, and is failed by it
            exclusion_id(market, workforce)

    def do(errand: Errand) -> None:
        if _run(work, market, errand, timezone.now()):
            confirmed.append(errand.pk)

    all_begun = run_in_flight(due_in_turns(workforce), do, calls=settings.MTURK_CALLS_IN_FLIGHT, seconds=seconds)
    return len(confirmed), all_begun


def _run(work: Work, market: Market, errand: Errand, now: datetime) -> bool:
    again = errand.state == ErrandState.SENDING
    with work.step_beside():
        taken = Errand.objects.filter(pk=errand.pk, state=errand.state, attempts=errand.attempts).update(
            state=ErrandState.SENDING, sending_since=errand.sending_since or now, attempts=errand.attempts + 1
        )
    if not taken:  # it was undone, or is another worker's
        return False
    errand.sending_since = errand.sending_since or now
    try:
        effect = CALLS[ErrandKind(errand.kind)](Attempt(market, errand, again, now))
    except Unreachable as error:
        _later(work, errand, str(error), now)
        return False
    except Refused as error:
        if any(code in error.code for code in FOR_NOW):
            _later(work, errand, str(error), now, is_refused=True)
        else:
            _fail(work, errand, str(error), now)
        return False
    except (LeaseLost, WorkerStopping):
        raise
    except Exception as error:  # whatever it is, it must not keep the errands behind it from being done
        if is_transient(error):
            raise
        if not isinstance(error, Unknown):
            logger.exception("errand %s (%s) failed", errand.pk, errand.kind)
        _fail(work, errand, str(error) or repr(error), now)
        return False
    with work.step_beside():
        done = Errand.objects.filter(pk=errand.pk, state=ErrandState.SENDING).update(
            state=ErrandState.CONFIRMED, confirmed_at=timezone.now(), error=""
        )
        if done:
            effect(timezone.now())
    return bool(done)


def _later(work: Work, errand: Errand, error: str, now: datetime, *, is_refused: bool = False) -> None:
    """Leave an errand as ``sending``, because it may have succeeded, and retry it later.

    After temporary refusals, the time between attempts grows.
    """
    seconds = min(60 * 2 ** min(errand.attempts, 6), 3600) if is_refused else settings.MTURK_RETRY_SECONDS
    with work.step_beside():
        Errand.objects.filter(pk=errand.pk).update(due_at=now + timedelta(seconds=seconds), error=error[:500])


def _fail(work: Work, errand: Errand, error: str, now: datetime) -> None:
    """Mark an errand as failed for a manager to handle, so that no failure goes unnoticed."""
    with work.step_beside():
        Errand.objects.filter(pk=errand.pk).update(state=ErrandState.FAILED, error=error[:500])
        if errand.kind == ErrandKind.APPROVE and errand.text == OVERRIDE and errand.ticket is not None:
            # An appeal was granted and the marketplace does not let us approve any more: it is paid all the same.
            refusal_make_good(ticket=errand.ticket, reason="Paid after an appeal", actor_id=None, now=now)
        record(
            action="errand_fail",
            subject=errand,
            now=now,
            actor_id=None,
            scope_id=errand.workforce.campaign_id,
            kind=errand.kind,
            error=error[:300],
        )
