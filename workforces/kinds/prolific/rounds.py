"""A round at Prolific: read, decide, adjust the study, send."""

from datetime import datetime

from django.conf import settings
from django.core.cache import cache
from django.utils import timezone

from jobs.work import Work
from workforces.kinds.base import NotConfigured, Refused
from workforces.kinds.prolific.connection import CURRENCY, is_configured, prolific
from workforces.kinds.prolific.errand_calls import ProlificSender
from workforces.kinds.prolific.pulls import submissions_pull
from workforces.kinds.prolific.study import study_adjust
from workforces.kinds.prolific.visits import keys_renew
from workforces.models import Errand, ErrandState, PostingState, Workforce
from workforces.services.pay import approvals_due
from workforces.services.rounds import Rounds, round_end
from workforces.services.sending import errands_run
from workforces.services.tickets import tickets_lapse

BUDGET_SECONDS = 20


def rounds_due(now: datetime) -> None:
    """Request a round at Prolific every half minute."""
    if is_configured():
        ROUNDS.are_due(now, seconds=settings.PROLIFIC_ROUND_SECONDS)


def _round(work: Work, workforce: Workforce) -> tuple[int, int]:
    """Read submissions, decide due pay, let the study follow the campaign, and send errands.

    Raises
    ------
    Unreachable, NotConfigured
    """
    client, problem, new = prolific(), "", 0
    if workforce.remote.get("currency") != CURRENCY:
        _check_currency(work, workforce, client.balance()[0])
    is_told = bool(workforce.remote.get("is_told"))
    postings = workforce.postings.exclude(hit_id="").exclude(state=PostingState.SETTLED)
    for posting in postings.select_related("workforce__campaign").order_by("number"):
        try:
            new += submissions_pull(work=work, client=client, posting=posting, now=timezone.now(), is_told=is_told)
        except Refused as error:  # whatever it is, what is known to be due is paid
            problem = str(error)
    if is_told:
        _keep(work, workforce, is_told=False)
    _keys(now=timezone.now())
    tickets_lapse(workforce=workforce, now=timezone.now())
    approvals_due(workforce=workforce, now=timezone.now())
    try:
        study_adjust(work=work, client=client, workforce=workforce, now=timezone.now())
    except Refused as error:  # work that is done is paid all the same
        problem = problem or str(error)
    sender = ProlificSender(client)
    confirmed, all_sent = errands_run(work=work, sender=sender, workforce=workforce, seconds=BUDGET_SECONDS)
    with work.step():
        waiting = Errand.objects.filter(workforce=workforce, state=ErrandState.SENDING).exclude(error="")
        problem = problem or waiting.order_by("pk").values_list("error", flat=True).first() or ""
        round_end(workforce, problem=problem, is_complete=all_sent)
    return new, confirmed


def _keys(now: datetime) -> None:
    """Renew Prolific's keys once a day, so that no visitor waits for them."""
    if cache.add(f"prolific-keys-of-{now:%Y-%m-%d}", 1, 86_400):
        keys_renew()


def _check_currency(work: Work, workforce: Workforce, currency: str) -> None:
    if currency != CURRENCY:
        raise NotConfigured(f"the account on Prolific is in {currency}, and Quorate counts in US cents")
    _keep(work, workforce, currency=currency)


def _keep(work: Work, workforce: Workforce, **values: object) -> None:
    with work.step():
        kept = Workforce.objects.select_for_update(no_key=True).values_list("remote", flat=True).get(pk=workforce.pk)
        workforce.remote = {**kept, **values}
        Workforce.objects.filter(pk=workforce.pk).update(remote=workforce.remote)


ROUNDS = Rounds("prolific", "workforces.prolific", "prolific", _round)
