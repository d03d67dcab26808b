"""Sending errands to the other side: due, sending, confirmed. Every call is outside of a transaction.

A worker can die between any two lines. Before the call, the row is set to ``sending``. The next worker sees
that, and either sends the same token again (a marketplace remembers it for a day) or reads the state back first.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import datetime, timedelta

from django.db.models import F
from django.utils import timezone

from accounts.audit import record
from database.statements import Update
from database.transactions import is_transient
from jobs.work import LeaseLost, Work, WorkerStopping
from web.request_log import current_request_id, logged_as
from workforces.kinds.base import PutOff, Refused, Unknown, Unreachable
from workforces.models import (
    Errand,
    ErrandKind,
    ErrandState,
    Workforce,
)
from workforces.services.inflight import run_in_flight
from workforces.services.outbox import OVERRIDE
from workforces.services.pay_errands import refusal_make_good
from workforces.services.turns import due_in_turns

logger = logging.getLogger(__name__)

# What a call brought: what to write down in the transaction that confirms the errand.
Effect = Callable[[datetime], object]


class Sender(ABC):
    """The calls of one kind of workforce.

    Attributes
    ----------
    in_flight
        The maximum number of calls at once.
    retry_seconds
        The pause after a call without an answer.
    for_now
        Parts of the codes of refusals that a person can fix there or in the settings: the same errand is tried again.
    """

    in_flight: int = 1
    retry_seconds: float = 30.0
    for_now: tuple[str, ...] = ()

    def prepare(self, workforce: Workforce) -> None:  # noqa: B027  most need nothing
        """Make what several errands need, before they are sent."""

    @abstractmethod
    def call(self, errand: Errand, *, is_again: bool, now: datetime) -> Effect:
        """Carry out an errand; ``is_again`` if an earlier attempt may have succeeded.

        Raises
        ------
        Refused, Unreachable, Unknown
        """


def errands_run(*, work: Work, sender: Sender, workforce: Workforce, seconds: float) -> tuple[int, bool]:
    """Send due errands for some seconds, several at once; return the number confirmed, and whether all were started.

    The kinds take turns, so that ten thousand approvals don't delay a posting, or the reverse.
    """
    confirmed: list[int] = []
    sender.prepare(workforce)

    def do(errand: Errand) -> None:
        with logged_as(errand.request_id or current_request_id()):
            if _run(work, sender, errand, timezone.now()):
                confirmed.append(errand.pk)

    all_begun = run_in_flight(due_in_turns(workforce), do, calls=sender.in_flight, seconds=seconds)
    return len(confirmed), all_begun


def _run(work: Work, sender: Sender, errand: Errand, now: datetime) -> bool:
    again = errand.state == ErrandState.SENDING
    with work.step_beside():
        taken = _TAKE.run(errand.pk, errand.state, errand.attempts, errand.sending_since or now)
    if not taken:  # it was undone, or is another worker's
        return False
    errand.sending_since = errand.sending_since or now
    try:
        effect = sender.call(errand, is_again=again, now=now)
    except Unreachable as error:
        had_none = isinstance(error, PutOff)
        seconds = _growing(errand) if had_none else sender.retry_seconds
        _later(work, errand, str(error), now, seconds=seconds, state=errand.state if had_none else ErrandState.SENDING)
        return False
    except Refused as error:
        if any(code in error.code for code in sender.for_now):
            _later(work, errand, str(error), now, seconds=_growing(errand))
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
        done = _CONFIRM.run(errand.pk, timezone.now())
        if done:
            effect(timezone.now())
    return bool(done)


_TAKE = Update(
    lambda pk, state, attempts, since: (
        Errand.objects.filter(pk=pk, state=state, attempts=attempts),
        {"state": ErrandState.SENDING, "sending_since": since, "attempts": F("attempts") + 1},
    ),
    int,
    str,
    int,
    datetime,
)
_CONFIRM = Update(
    lambda pk, now: (
        Errand.objects.filter(pk=pk, state=ErrandState.SENDING),
        {"state": ErrandState.CONFIRMED, "confirmed_at": now, "error": ""},
    ),
    int,
    datetime,
)


def _growing(errand: Errand) -> float:
    """Return the pause after a refusal that passes; it grows with the attempts."""
    return float(min(60 << min(errand.attempts, 6), 3600))


def _later(
    work: Work, errand: Errand, error: str, now: datetime, *, seconds: float, state: str = ErrandState.SENDING
) -> None:
    """Leave an errand as ``sending``, because it may have succeeded, and retry it later.

    One that surely had no effect gets its ``state`` of before.
    """
    changes = {"state": state, **({"sending_since": None} if state == ErrandState.DUE else {})}
    with work.step_beside():
        Errand.objects.filter(pk=errand.pk, state=ErrandState.SENDING).update(
            due_at=now + timedelta(seconds=seconds), error=error[:500], **changes
        )


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
