"""Rounds at the marketplace: read, decide, send, each within a time limit.

Polling alone is sufficient; notifications only make a round come sooner.
"""

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from annotation.models import CampaignState
from database.transactions import is_transient
from jobs.services import job_enqueue, job_failed_lately
from jobs.work import LeaseLost, RetryLater, Work, WorkerStopping
from workforces.kinds.base import NotConfigured
from workforces.kinds.mturk.client import Unreachable
from workforces.kinds.mturk.connection import market
from workforces.kinds.mturk.errands import errands_run
from workforces.kinds.mturk.postings import postings_adjust
from workforces.kinds.mturk.pulls import postings_pull
from workforces.models import Errand, ErrandState, Posting, PostingState, Workforce
from workforces.services.pay import approvals_due
from workforces.services.tickets import tickets_lapse

logger = logging.getLogger(__name__)

MARKETPLACE = "mturk"
KEY = "marketplace"  # one round at a time


def rounds_due(now: datetime) -> None:
    """Request a round at the marketplace every few seconds."""
    is_due = settings.MTURK_ENDPOINT_URL and not job_failed_lately(key=KEY, now=now)
    if is_due and any(True for _ in _workforces_due(now)):
        round_request(now=now)


def _workforces_due(now: datetime) -> Iterator[Workforce]:
    """Yield workforces with pending work and without a recent round."""
    before = (now - timedelta(seconds=settings.MTURK_ROUND_SECONDS)).isoformat()
    postings = Posting.objects.filter(workforce=OuterRef("pk")).exclude(state=PostingState.SETTLED)
    errands = Errand.objects.filter(workforce=OuterRef("pk"), state__in=[ErrandState.DUE, ErrandState.SENDING])
    rows = Workforce.objects.filter(kind=MARKETPLACE).filter(
        Q(campaign__state=CampaignState.OPEN) | Exists(postings) | Exists(errands)
    )
    for workforce in rows.select_related("campaign").order_by("pk"):
        round_at = workforce.remote.get("round_at", "")
        if round_at < before or round_at > now.isoformat():  # later than now: the clock was wrong then
            yield workforce


def round_request(*, now: datetime) -> None:
    """Request a round over all campaigns; at most one waits or runs, because campaigns share the rate limit."""
    job_enqueue(kind="workforces.marketplace", payload={}, now=now, key=KEY)


def marketplace_rounds(*, work: Work) -> dict[str, Any]:
    """Run a round for every campaign's postings, one after another, each within a time limit.

    Raises
    ------
    RetryLater
        The marketplace didn't respond for one of them; the others were still processed.
    """
    pulled = confirmed = 0
    unreachable = ""
    for workforce in list(_workforces_due(timezone.now())):
        try:
            found = marketplace_round(work=work, workforce=workforce)
            pulled, confirmed = pulled + found["pulled"], confirmed + found["confirmed"]
        except Unreachable as error:
            unreachable = str(error)
            _note_problem(workforce, unreachable)
        except (LeaseLost, WorkerStopping):
            raise
        except Exception as error:  # one campaign that cannot be looked after keeps the others waiting for nothing
            if is_transient(error):
                raise
            logger.exception("the postings of %s could not be looked after", workforce.campaign_id)
            _note_problem(
                workforce, f"something unexpected went wrong ({type(error).__name__}); the log has the details"
            )
    if unreachable:
        raise RetryLater(unreachable)
    return {"pulled": pulled, "confirmed": confirmed}


def _note_problem(workforce: Workforce, problem: str) -> None:
    """Show managers the problem that blocks a workforce, and retry after the usual pause."""
    kept = Workforce.objects.values_list("remote", flat=True).get(pk=workforce.pk)
    Workforce.objects.filter(pk=workforce.pk).update(
        problem=problem[:500], remote={**kept, "round_at": timezone.now().isoformat()}
    )


def marketplace_round(*, work: Work, workforce: Workforce) -> dict[str, int]:
    """Read new submissions, decide due pay, and send errands, each within its share of the time.

    The next round does the rest.

    Raises
    ------
    Unreachable
    """
    try:
        client = market()
    except NotConfigured as error:
        Workforce.objects.filter(pk=workforce.pk).update(problem=str(error))
        return {"pulled": 0, "confirmed": 0}
    share = settings.MTURK_ROUND_BUDGET_SECONDS / 2
    pulled = postings_pull(work=work, market=client, workforce=workforce, seconds=share)
    work.progress(work.job.done)
    tickets_lapse(workforce=workforce, now=timezone.now())
    approvals_due(workforce=workforce, now=timezone.now())
    with work.step():
        postings_adjust(workforce=workforce, now=timezone.now())
    confirmed, all_sent = errands_run(work=work, market=client, workforce=workforce, seconds=share)
    with work.step():
        workforce.refresh_from_db()
        round_at = timezone.now().isoformat() if pulled.is_complete and all_sent else ""
        waiting = Errand.objects.filter(workforce=workforce, state=ErrandState.SENDING).exclude(error="")
        problem = pulled.problem or waiting.order_by("pk").values_list("error", flat=True).first() or ""
        Workforce.objects.filter(pk=workforce.pk).update(
            remote={**workforce.remote, "round_at": round_at}, problem=problem[:500]
        )
    return {"pulled": pulled.new, "confirmed": confirmed}
