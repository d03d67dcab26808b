"""Rounds at the other side: read, decide, send, each within a time limit.

Polling alone is sufficient; notifications only make a round come sooner.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from annotation.models import CampaignState
from database.transactions import is_transient, require_transaction
from jobs.services import job_enqueue, job_failed_lately
from jobs.work import LeaseLost, RetryLater, Work, WorkerStopping
from workforces.kinds.base import NotConfigured, Unreachable
from workforces.models import Errand, ErrandState, Posting, PostingState, Workforce

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Rounds:
    """The rounds of one kind of workforce.

    Attributes
    ----------
    kind, job
        The kinds of the workforce and of its job.
    key
        The key by which at most one of its jobs waits or runs.
    run
        A round for one workforce; it returns the numbers of new submissions and of confirmed errands.
    """

    kind: str
    job: str
    key: str
    run: Callable[[Work, Workforce], tuple[int, int]]

    def are_due(self, now: datetime, *, seconds: float) -> None:
        """Request a round if a workforce had none for some seconds."""
        if not job_failed_lately(key=self.key, now=now) and any(True for _ in self._due(now, seconds)):
            self.request(now=now)

    def request(self, *, now: datetime) -> None:
        """Request a round over all campaigns; at most one waits or runs, because campaigns share the rate limit."""
        job_enqueue(kind=self.job, payload={}, now=now, key=self.key)

    def _due(self, now: datetime, seconds: float) -> Iterator[Workforce]:
        """Yield workforces with pending work and without a recent round."""
        before = (now - timedelta(seconds=seconds)).isoformat()
        postings = Posting.objects.filter(workforce=OuterRef("pk")).exclude(state=PostingState.SETTLED)
        errands = Errand.objects.filter(workforce=OuterRef("pk"), state__in=[ErrandState.DUE, ErrandState.SENDING])
        rows = Workforce.objects.filter(kind=self.kind).filter(
            Q(campaign__state=CampaignState.OPEN) | Exists(postings) | Exists(errands)
        )
        for workforce in rows.select_related("campaign").order_by("pk"):
            round_at = workforce.remote.get("round_at", "")
            if round_at < before or round_at > now.isoformat():  # later than now: the clock was wrong then
                yield workforce

    def run_all(self, work: Work, *, seconds: float) -> dict[str, Any]:
        """Run a round for every due workforce, one after another, each within a time limit.

        Raises
        ------
        RetryLater
            The other side didn't respond for one of them; the others were still processed.
        """
        pulled = confirmed = 0
        unreachable = ""
        for workforce in list(self._due(timezone.now(), seconds)):
            try:
                new, sent = self.run(work, workforce)
                pulled, confirmed = pulled + new, confirmed + sent
            except NotConfigured as error:
                Workforce.objects.filter(pk=workforce.pk).update(problem=str(error)[:500])
            except Unreachable as error:
                unreachable = str(error)
                _note_problem(workforce, unreachable)
            except (LeaseLost, WorkerStopping):
                raise
            except Exception as error:  # one campaign that cannot be looked after keeps the others waiting for nothing
                if is_transient(error):
                    raise
                logger.exception("the work of %s could not be looked after", workforce.campaign_id)
                _note_problem(
                    workforce, f"something unexpected went wrong ({type(error).__name__}); the log has the details"
                )
        if unreachable:
            raise RetryLater(unreachable)
        return {"pulled": pulled, "confirmed": confirmed}


def _note_problem(workforce: Workforce, problem: str) -> None:
    """Show managers the problem that blocks a workforce, and retry after the usual pause."""
    with transaction.atomic():
        round_end(workforce, problem=problem, is_complete=True)


def round_end(workforce: Workforce, *, problem: str, is_complete: bool) -> None:
    """Note when a round ended, and what is in its way; one that isn't complete is repeated at once."""
    require_transaction()
    kept = Workforce.objects.select_for_update(no_key=True).values_list("remote", flat=True).get(pk=workforce.pk)
    round_at = timezone.now().isoformat() if is_complete else ""
    Workforce.objects.filter(pk=workforce.pk).update(problem=problem[:500], remote={**kept, "round_at": round_at})
