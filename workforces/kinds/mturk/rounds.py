"""A round at the marketplace: read, decide, send."""

from datetime import datetime

from django.conf import settings
from django.utils import timezone

from jobs.work import Work
from workforces.kinds.mturk.connection import market
from workforces.kinds.mturk.errand_calls import MTurkSender
from workforces.kinds.mturk.postings import postings_adjust, postings_settle
from workforces.kinds.mturk.pulls import postings_pull
from workforces.models import Errand, ErrandState, Workforce
from workforces.services.pay import approvals_due
from workforces.services.rounds import Rounds, round_end
from workforces.services.sending import errands_run
from workforces.services.tickets import tickets_lapse


def rounds_due(now: datetime) -> None:
    """Request a round at the marketplace every few seconds."""
    if settings.MTURK_ENDPOINT_URL:
        ROUNDS.are_due(now, seconds=settings.MTURK_ROUND_SECONDS)


def _round(work: Work, workforce: Workforce) -> tuple[int, int]:
    """Read new submissions, decide due pay, and send errands, each within its share of the time.

    The next round does the rest.

    Raises
    ------
    Unreachable, NotConfigured
    """
    client = market()
    share = settings.MTURK_ROUND_BUDGET_SECONDS / 2
    pulled = postings_pull(work=work, market=client, workforce=workforce, seconds=share)
    work.progress(work.job.done)
    tickets_lapse(workforce=workforce, now=timezone.now())
    approvals_due(workforce=workforce, now=timezone.now())
    with work.step():
        postings_adjust(workforce=workforce, now=timezone.now())
    confirmed, all_sent = errands_run(work=work, sender=MTurkSender(client), workforce=workforce, seconds=share)
    with work.step():
        postings_settle(workforce=workforce)
        waiting = Errand.objects.filter(workforce=workforce, state=ErrandState.SENDING).exclude(error="")
        problem = pulled.problem or waiting.order_by("pk").values_list("error", flat=True).first() or ""
        round_end(workforce, problem=problem, is_complete=pulled.is_complete and all_sent)
    return pulled.new, confirmed


ROUNDS = Rounds("mturk", "workforces.marketplace", "marketplace", _round)
