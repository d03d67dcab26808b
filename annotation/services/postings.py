"""Postings: how many HITs a campaign needs now, and what the marketplace lists of them.

Polling alone is enough; notifications only make a round come sooner.
"""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q
from django.utils import timezone

from accounts.audit import record
from annotation.models import (
    MOST_PLACES,
    BatchState,
    CampaignState,
    Errand,
    ErrandKind,
    ErrandState,
    Posting,
    PostingState,
    Slot,
    SlotState,
    Ticket,
    TicketState,
    Workforce,
)
from annotation.services.errands import errands_run
from annotation.services.errands_queue import errand_add
from annotation.services.marketplace import NotConfigured, market, terms_of
from annotation.services.pay import approvals_due, committed_cents, ticket_paid
from annotation.services.tickets import stranger_record, ticket_confirm, tickets_lapse
from annotation.workforces.money import fee_cents
from annotation.workforces.mturk import Market, Refused, RemoteAssignment, Unreachable
from jobs.services import job_enqueue
from jobs.ticks import on_tick
from jobs.work import RetryLater, Work

MOST_OPEN_POSTINGS = 200
LIVE_TICKETS = (TicketState.OPEN, TicketState.ANSWERED, TicketState.SUBMITTED)


@on_tick
def rounds_due(now: datetime) -> None:
    """Have the marketplace looked after, every so many seconds."""
    if not settings.MTURK_ENDPOINT_URL:
        return
    before = (now - timedelta(seconds=settings.MTURK_ROUND_SECONDS)).isoformat()
    postings = Posting.objects.filter(workforce=OuterRef("pk")).exclude(state=PostingState.SETTLED)
    errands = Errand.objects.filter(workforce=OuterRef("pk"), state__in=[ErrandState.DUE, ErrandState.SENDING])
    rows = Workforce.objects.filter(kind="mturk").filter(
        Q(campaign__state=CampaignState.OPEN) | Exists(postings) | Exists(errands)
    )
    for workforce in rows.order_by("pk")[:100]:
        if workforce.remote.get("round_at", "") < before:
            round_request(workforce=workforce, now=now)


def round_request(*, workforce: Workforce, now: datetime) -> None:
    """Ask for a round; at most one waits, for all campaigns together: they share the marketplace's patience."""
    job_enqueue(
        kind="annotation.marketplace", payload={"workforce": workforce.pk}, now=now, scope_id=workforce.campaign_id,
        key=f"marketplace:{workforce.pk}",
    )  # fmt: skip


def marketplace_round(*, work: Work, workforce: Workforce) -> dict[str, Any]:
    """Read what came in, decide what is due, send it.

    Raises
    ------
    RetryLater
        The marketplace does not answer.
    """
    try:
        client = market()
    except NotConfigured as error:
        Workforce.objects.filter(pk=workforce.pk).update(problem=str(error))
        return {}
    with work.step():
        Workforce.objects.filter(pk=workforce.pk).update(problem="")  # said again below if it is still there
    try:
        pulled = postings_pull(work=work, market=client, workforce=workforce)
        with work.step():
            tickets_lapse(workforce=workforce, now=timezone.now())
            approvals_due(workforce=workforce, now=timezone.now())
            postings_plan(workforce=workforce, now=timezone.now())
        confirmed = errands_run(work=work, market=client, workforce=workforce)
    except Unreachable as error:
        raise RetryLater(str(error)) from error
    with work.step():
        workforce.refresh_from_db()
        remote = {**workforce.remote, "round_at": timezone.now().isoformat()}
        Workforce.objects.filter(pk=workforce.pk).update(remote=remote)
    return {"pulled": pulled, "confirmed": confirmed}


def postings_plan(*, workforce: Workforce, now: datetime) -> int:
    """Post what is missing, end what nobody needs; return how many places are new."""
    terms = terms_of(workforce)
    open_slots = _open_slots(workforce)
    live = list(
        workforce.postings.filter(state__in=[PostingState.WANTED, PostingState.OPEN])
        .annotate(taken=Count("tickets", filter=~Q(tickets__state=TicketState.LAPSED)))
        .order_by("number")
    )
    if not open_slots:
        for posting in live:
            posting_end(posting=posting, now=now)
        return 0
    stale = [posting for posting in live if _is_stale(posting, terms.stale_seconds, now)]
    for posting in stale:
        posting_end(posting=posting, now=now)
    if stale:
        _let_back(workforce, now)
    free = sum(max(0, posting.places - posting.taken) for posting in live if posting not in stale)
    missing = -(-open_slots // terms.items_per_ticket) - free
    room = MOST_OPEN_POSTINGS - (len(live) - len(stale))
    return _post(workforce, terms, missing, room, now) if missing > 0 else 0


def _open_slots(workforce: Workforce) -> int:
    """Return how many slots wait for somebody, counted no further than can be posted at once."""
    campaign = workforce.campaign
    if not workforce.is_active or campaign.state != CampaignState.OPEN:
        return 0
    slots = Slot.objects.filter(
        campaign=campaign, state=SlotState.OPEN, item__batch__state=BatchState.OPEN, item__batch__is_gold=False
    )
    return len(slots.values_list("pk", flat=True)[: MOST_OPEN_POSTINGS * 9])


def _is_stale(posting: Posting, seconds: int, now: datetime) -> bool:
    if posting.state != PostingState.OPEN:
        return False
    expired = posting.expires_at is not None and posting.expires_at < now
    return expired or posting.touched_at < now - timedelta(seconds=seconds)


def _post(workforce: Workforce, terms: Any, missing: int, room: int, now: datetime) -> int:
    cost = terms.reward_cents + fee_cents(terms.reward_cents, has_fees=terms.has_fees)
    left = None if terms.cap_cents is None else terms.cap_cents - committed_cents(workforce)
    most = terms.places or min(MOST_PLACES, max(workforce.campaign.splits.values_list("n", flat=True), default=1))
    posted = 0
    while posted < missing and room > 0:
        places = min(most, missing - posted)
        if left is not None and left < places * cost:
            _stop_spending(workforce, now)
            break
        left = None if left is None else left - places * cost
        with transaction.atomic():
            row = Workforce.objects.select_for_update().get(pk=workforce.pk)
            Workforce.objects.filter(pk=row.pk).update(serial=row.serial + 1, spent_stop=False)
            posting = Posting.objects.create(
                workforce=workforce, number=row.serial + 1, places=places, wanted_at=now, touched_at=now
            )
            errand_add(
                workforce=workforce, kind=ErrandKind.PUBLISH, posting=posting, due_at=now,
                token=f"{workforce.campaign_id.hex}-{posting.number}",
            )  # fmt: skip
        posted += places
        room -= 1
    return posted


def _stop_spending(workforce: Workforce, now: datetime) -> None:
    """Post nothing more: the cap is reached. What is posted can be finished and is paid."""
    with transaction.atomic():
        if Workforce.objects.filter(pk=workforce.pk, spent_stop=False).update(spent_stop=True):
            record(action="workforce_cap", subject=workforce, now=now, actor_id=None, scope_id=workforce.campaign_id)


def posting_end(*, posting: Posting, now: datetime) -> None:
    """Let nobody take a posting any more; what was taken can be finished."""
    with transaction.atomic():
        if posting.state == PostingState.WANTED:
            waiting = Errand.objects.filter(posting=posting, kind=ErrandKind.PUBLISH, state=ErrandState.DUE)
            if waiting.update(state=ErrandState.UNDONE):
                Posting.objects.filter(pk=posting.pk).update(state=PostingState.SETTLED)
            return  # being sent at this moment: it is ended in the next round
        if Posting.objects.filter(pk=posting.pk, state=PostingState.OPEN).update(state=PostingState.ENDING):
            errand_add(
                workforce=posting.workforce, kind=ErrandKind.EXPIRE, posting=posting, due_at=now,
                token=f"expire-{posting.pk}",
            )  # fmt: skip


def _let_back(workforce: Workforce, now: datetime) -> None:
    """Let people take postings again who had seen all there was: by now something may suit them."""
    last: dict[Any, Errand] = {}
    errands = Errand.objects.filter(workforce=workforce, kind__in=[ErrandKind.GRANT, ErrandKind.REVOKE])
    for errand in errands.order_by("pk"):
        last[errand.surrogate_id] = errand
    with transaction.atomic():
        for surrogate_id, errand in last.items():
            if errand.kind == ErrandKind.GRANT and errand.text == "all_seen":
                errand_add(
                    workforce=workforce, kind=ErrandKind.REVOKE, surrogate_id=surrogate_id, due_at=now,
                    text="There may be work for you again",
                )  # fmt: skip


def postings_pull(*, work: Work, market: Market, workforce: Workforce) -> int:
    """Read the submissions of every posting that is not settled; return how many were new."""
    before = timezone.now() - timedelta(seconds=settings.MTURK_PULL_SECONDS)
    due = (
        workforce.postings.exclude(hit_id="")
        .exclude(state=PostingState.SETTLED)
        .filter(Q(pulled_at=None) | Q(pulled_at__lt=before))
    )
    return sum(
        _pull(work, market, posting)
        for posting in due.select_related("workforce__campaign").order_by(F("pulled_at").asc(nulls_first=True), "pk")[
            :MOST_OPEN_POSTINGS
        ]
    )


def _pull(work: Work, market: Market, posting: Posting) -> int:
    began = timezone.now()
    try:
        settles = posting.state == PostingState.ENDED and market.pending(posting.hit_id) in (0, None)
        remotes = list(market.assignments(posting.hit_id))
    except Refused as error:  # one HIT that cannot be read does not keep the others from being read
        with work.step():
            Posting.objects.filter(pk=posting.pk).update(pulled_at=began)
            Workforce.objects.filter(pk=posting.workforce_id).update(problem=str(error)[:500])
        return 0
    with work.step():
        new = sum(_take(posting, remote, timezone.now()) for remote in remotes)
        changes: dict[str, Any] = {"pulled_at": began}
        waiting = [*LIVE_TICKETS, TicketState.UNMATCHED]
        if settles and not posting.tickets.filter(state__in=waiting).exists():
            changes["state"] = PostingState.SETTLED
        Posting.objects.filter(pk=posting.pk).update(**changes)
    return new


def _take(posting: Posting, remote: RemoteAssignment, now: datetime) -> bool:
    """Match one listed submission with what we know of it."""
    ticket = (
        Ticket.objects.select_related("workforce__campaign")
        .filter(
            posting=posting, remote_id=remote.remote_id, surrogate__external__source=posting.workforce.source,
            surrogate__external__name=remote.worker,
        )
        .first()
    )  # fmt: skip
    if ticket is None:
        ticket = stranger_record(posting=posting, remote=remote, now=now)
        return True
    new = ticket_confirm(ticket=ticket, remote=remote, now=now)
    ticket.refresh_from_db()
    if remote.status == "Approved" and ticket.state != TicketState.APPROVED:
        ticket_paid(ticket=ticket, errand=None, now=now)  # the marketplace's clock approved it
    elif remote.status == "Rejected" and ticket.state == TicketState.SUBMITTED:
        Ticket.objects.filter(pk=ticket.pk).update(state=TicketState.REFUSED, decided_at=now)
    return new
