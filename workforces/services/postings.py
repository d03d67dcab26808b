"""Postings: how many HITs a campaign needs now, and what the marketplace lists of them.

Polling alone is enough; notifications only make a round come sooner.
"""

import logging
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q
from django.utils import timezone

from accounts.audit import record
from accounts.models import ExternalIdentity
from accounts.transactions import is_transient
from annotation.models import BatchState, CampaignState, ItemState, Purpose, Slot, SlotState
from annotation.services.claims import Reason
from annotation.services.counting import people_lock
from jobs.services import job_enqueue
from jobs.work import LeaseLost, RetryLater, Work, WorkerStopping
from workforces.kinds.mturk.client import Market, Refused, RemoteAssignment, Unreachable
from workforces.models import (
    MOST_PLACES,
    Errand,
    ErrandKind,
    ErrandState,
    Posting,
    PostingState,
    Ticket,
    TicketState,
    Workforce,
    WorkforceKind,
)
from workforces.services.connection import NotConfigured, market
from workforces.services.errands import errands_run
from workforces.services.inflight import run_in_flight
from workforces.services.outbox import errand_add
from workforces.services.pay import (
    PayError,
    approvals_due,
    committed_cents,
    place_cents,
    ticket_paid,
    workforce_lock,
)
from workforces.services.terms import terms_of
from workforces.services.tickets import GRACE_SECONDS, let_back, stranger_record, ticket_confirm, tickets_lapse

logger = logging.getLogger(__name__)

MOST_OPEN_POSTINGS = 200
WORKED = [Purpose.WORK, Purpose.STUDY, Purpose.PILOT]  # gold is handed out beside them


def rounds_due(now: datetime) -> None:
    """Have the marketplace looked after, every so many seconds."""
    if settings.MTURK_ENDPOINT_URL and any(True for _ in _workforces_due(now)):
        round_request(now=now)


def _workforces_due(now: datetime) -> Iterator[Workforce]:
    """Yield workforces that have something to do and were not looked after lately."""
    before = (now - timedelta(seconds=settings.MTURK_ROUND_SECONDS)).isoformat()
    postings = Posting.objects.filter(workforce=OuterRef("pk")).exclude(state=PostingState.SETTLED)
    errands = Errand.objects.filter(workforce=OuterRef("pk"), state__in=[ErrandState.DUE, ErrandState.SENDING])
    rows = Workforce.objects.filter(kind=WorkforceKind.MTURK).filter(
        Q(campaign__state=CampaignState.OPEN) | Exists(postings) | Exists(errands)
    )
    for workforce in rows.select_related("campaign").order_by("pk"):
        round_at = workforce.remote.get("round_at", "")
        if round_at < before or round_at > now.isoformat():  # later than now: the clock was wrong then
            yield workforce


def round_request(*, now: datetime) -> None:
    """Ask for a round over all campaigns; at most one waits or runs: they share the marketplace's patience."""
    job_enqueue(kind="workforces.marketplace", payload={}, now=now, key="marketplace")


def marketplace_rounds(*, work: Work) -> dict[str, Any]:
    """Look after every campaign's postings, one after another, each for a bounded time.

    Raises
    ------
    RetryLater
        The marketplace did not answer for one of them; the others were looked after all the same.
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
    """Show managers what keeps a workforce from going on, and come back to it after the usual pause."""
    kept = Workforce.objects.values_list("remote", flat=True).get(pk=workforce.pk)
    Workforce.objects.filter(pk=workforce.pk).update(
        problem=problem[:500], remote={**kept, "round_at": timezone.now().isoformat()}
    )


def marketplace_round(*, work: Work, workforce: Workforce) -> dict[str, int]:
    """Read what came in, decide what is due, send it, each within its share of the time; the next round does the rest.

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
        postings_plan(workforce=workforce, now=timezone.now())
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


def postings_plan(*, workforce: Workforce, now: datetime) -> int:
    """Post what is missing, end what nobody needs; return how many places are new."""
    terms = terms_of(workforce)
    _give_up_unpostable(workforce)
    open_slots = _open_slots(workforce)
    in_time = now - timedelta(seconds=terms.assignment_seconds + GRACE_SECONDS)
    live = list(
        workforce.postings.filter(state__in=[PostingState.WANTED, PostingState.OPEN], owed_to=None)
        .annotate(
            taken=Count("tickets", filter=~Q(tickets__state=TicketState.LAPSED)),
            in_work=Count("tickets", filter=Q(tickets__state=TicketState.OPEN, tickets__opened_at__gte=in_time)),
        )
        .order_by("number")
    )
    if not open_slots:
        for posting in live:
            posting_end(posting=posting, now=now)
        return 0
    stale = [
        posting
        for posting in live
        if _is_stale(posting, is_in_work=posting.in_work > 0, seconds=terms.stale_seconds, now=now)
    ]
    for posting in stale:
        posting_end(posting=posting, now=now)
    if stale:
        _let_back(workforce, now)
    free = sum(max(0, posting.places - posting.taken) for posting in live if posting not in stale)
    missing = -(-open_slots // terms.items_per_ticket) - free
    room = MOST_OPEN_POSTINGS - (len(live) - len(stale))
    return _post(workforce, terms, missing, room, now) if missing > 0 else 0


def _give_up_unpostable(workforce: Workforce) -> None:
    """Settle postings that the marketplace refused for good: their places are wanted elsewhere."""
    failed = Errand.objects.filter(posting=OuterRef("pk"), kind=ErrandKind.PUBLISH, state=ErrandState.FAILED)
    workforce.postings.filter(Exists(failed), state=PostingState.WANTED).update(state=PostingState.SETTLED)


def _open_slots(workforce: Workforce) -> int:
    """Return how many slots wait for somebody, counted no further than can be posted at once."""
    campaign = workforce.campaign
    if not workforce.is_active or campaign.state != CampaignState.OPEN:
        return 0
    slots = Slot.objects.filter(
        campaign=campaign,
        state=SlotState.OPEN,
        item__batch__state=BatchState.OPEN,
        item__state=ItemState.ACTIVE,
        item__batch__purpose__in=WORKED,
    )
    return len(slots.values_list("pk", flat=True)[: MOST_OPEN_POSTINGS * 9])


def _is_stale(posting: Posting, *, is_in_work: bool, seconds: int, now: datetime) -> bool:
    """Return whether nobody can take a posting any more, or nobody did for so long and nobody works on it."""
    if posting.state != PostingState.OPEN:
        return False
    if posting.expires_at is not None and posting.expires_at < now:
        return True
    return not is_in_work and posting.touched_at < now - timedelta(seconds=seconds)


def _post(workforce: Workforce, terms: Any, missing: int, room: int, now: datetime) -> int:
    if Errand.objects.filter(workforce=workforce, kind=ErrandKind.PUBLISH, state=ErrandState.FAILED).exists():
        return 0  # what refused one would refuse the next: a person has to look first
    workforce_lock(workforce)  # a bonus that is granted at this moment is seen, or sees these postings
    if terms.cap_cents is not None:
        affordable = max(0, terms.cap_cents - committed_cents(workforce)) // sum(place_cents(workforce, terms))
        _spending(workforce, is_stopped=affordable < missing, now=now)
        missing = min(missing, affordable)
    most = terms.places or min(MOST_PLACES, max(workforce.campaign.splits.values_list("n", flat=True), default=1))
    posted = 0
    while posted < missing and room > 0:
        places = min(most, missing - posted)
        with transaction.atomic():
            _posting_add(workforce, places, workforce.terms, now)
        posted += places
        room -= 1
    return posted


def owed_post(
    *, workforce: Workforce, surrogate_id: UUID, cents: int, reason: str, actor_id: UUID, now: datetime
) -> Posting:
    """Post a HIT that only one person can take, to pay them for work that they could not hand in.

    A marketplace pays for submitted assignments only; whoever lost theirs needs another one to be paid by.

    Raises
    ------
    PayError
        The amount or the reason is missing.
    """
    if cents < 1 or not reason.strip():
        raise PayError("say how much is owed, and for what")
    terms = {
        **workforce.terms, "reward_cents": cents, "title": "Payment for work you did", "description": reason[:500],
        "qualification": "own", "training_bonus_cents": 0, "items_per_ticket": 1,
    }  # fmt: skip
    with transaction.atomic():
        posting = _posting_add(workforce, 1, terms, now, owed_to=surrogate_id)
        record(
            action="owed_post", subject=posting, now=now, actor_id=actor_id, scope_id=workforce.campaign_id,
            cents=cents, reason=reason[:300],
        )  # fmt: skip
    return posting


def _posting_add(
    workforce: Workforce, places: int, terms: dict[str, Any], now: datetime, *, owed_to: UUID | None = None
) -> Posting:
    row = Workforce.objects.select_for_update(no_key=True).get(pk=workforce.pk)
    Workforce.objects.filter(pk=row.pk).update(serial=row.serial + 1)
    posting = Posting.objects.create(
        workforce=workforce, number=row.serial + 1, places=places, wanted_at=now, touched_at=now, terms=terms,
        owed_to_id=owed_to,
    )  # fmt: skip
    errand_add(
        workforce=workforce, kind=ErrandKind.PUBLISH, posting=posting, due_at=now, surrogate_id=owed_to,
        token=f"{workforce.campaign_id.hex}-{posting.number}",
    )  # fmt: skip
    return posting


def _spending(workforce: Workforce, *, is_stopped: bool, now: datetime) -> None:
    """Note whether the cap keeps postings from being made. What is posted can be finished and is paid."""
    with transaction.atomic():
        changed = Workforce.objects.filter(pk=workforce.pk).exclude(spent_stop=is_stopped).update(spent_stop=is_stopped)
        if changed:
            record(
                action="workforce_cap", subject=workforce, now=now, actor_id=None, scope_id=workforce.campaign_id,
                is_stopped=is_stopped,
            )  # fmt: skip


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
    granted = Errand.objects.filter(workforce=workforce, kind=ErrandKind.GRANT, text=Reason.ALL_SEEN)
    with transaction.atomic():
        for surrogate_id in granted.order_by("surrogate_id").values_list("surrogate_id", flat=True).distinct():
            if surrogate_id is not None:
                let_back(workforce=workforce, surrogate_id=surrogate_id, now=now, only=Reason.ALL_SEEN)


MOST_SILENT = 3  # postings that get no answer: then it is the marketplace, not the posting


@dataclass
class Pulled:
    """What reading postings came to: new submissions, the last problem, and whether all that were due were read."""

    new: int = 0
    problem: str = ""
    silent: int = 0
    is_complete: bool = False


def postings_pull(*, work: Work, market: Market, workforce: Workforce, seconds: float) -> Pulled:
    """Read the submissions of postings that are not settled, several at once, those that waited longest first.

    One posting that cannot be read does not keep the others from being read.

    Raises
    ------
    Unreachable
        The marketplace does not answer.
    """
    before = timezone.now() - timedelta(seconds=settings.MTURK_PULL_SECONDS)
    due = (
        workforce.postings.exclude(hit_id="")
        .exclude(state=PostingState.SETTLED)
        .filter(Q(tried_at=None) | Q(tried_at__lt=before) | Q(tried_at__gt=timezone.now()))
        .select_related("workforce__campaign")
        .order_by(F("tried_at").asc(nulls_first=True), "pk")
    )
    found = Pulled()
    lock = threading.Lock()

    def pull(posting: Posting) -> None:
        began = timezone.now()
        try:
            new = _pull(work, market, posting, began)
            with lock:
                found.new, found.silent = found.new + new, 0
        except Refused as error:
            found.problem = str(error)
            _unreadable(work, posting, error, began)
        except Unreachable as error:
            found.problem, found.silent = str(error), found.silent + 1
            _tried(work, posting, began)
            if found.silent >= MOST_SILENT:
                raise
        except (LeaseLost, WorkerStopping):
            raise
        except Exception as error:
            if is_transient(error):
                raise
            logger.exception("posting %s could not be read", posting.hit_id)
            found.problem = f"a posting could not be read: {type(error).__name__}"
            _tried(work, posting, began)

    postings = iter(list(due[:MOST_OPEN_POSTINGS]))
    found.is_complete = run_in_flight(postings, pull, calls=settings.MTURK_CALLS_IN_FLIGHT, seconds=seconds)
    return found


def _tried(work: Work, posting: Posting, began: datetime) -> None:
    with work.step():
        Posting.objects.filter(pk=posting.pk).update(tried_at=began)


def _unreadable(work: Work, posting: Posting, error: Refused, began: datetime) -> None:
    """Remember that a posting was tried; one that is gone is over, and what was not listed by then never comes."""
    gone = {"state": PostingState.SETTLED, "pulled_at": began} if "DoesNotExist" in error.code else {}
    with work.step():
        Posting.objects.filter(pk=posting.pk).update(tried_at=began, **gone)


def _pull(work: Work, market: Market, posting: Posting, began: datetime) -> int:
    """Take in what the marketplace lists of a posting.

    When one submission cannot be taken in, the others are, and the posting is read again: it is neither settled
    nor noted as read, so that nothing that was handed in is given up.
    """
    settles = posting.state == PostingState.ENDED and market.pending(posting.hit_id) == 0
    remotes = list(market.assignments(posting.hit_id))
    with work.step():
        people_lock(campaign_id=posting.workforce.campaign_id, surrogate_ids=_people_of(posting, remotes))
        taken = [_take_one(posting, remote) for remote in remotes]
        changes: dict[str, Any] = {"tried_at": began}
        if None not in taken:
            changes["pulled_at"] = began
            waiting = [TicketState.ANSWERED, TicketState.SUBMITTED, TicketState.UNMATCHED]
            in_work = posting.tickets.filter(state=TicketState.OPEN, work__isnull=False)
            if settles and not posting.tickets.filter(state__in=waiting).exists() and not in_work.exists():
                changes["state"] = PostingState.SETTLED
        Posting.objects.filter(pk=posting.pk).update(**changes)
    return sum(map(bool, taken))


def _people_of(posting: Posting, remotes: Sequence[RemoteAssignment]) -> set[UUID]:
    """Return whoever taking these submissions in may be about."""
    named = ExternalIdentity.objects.filter(
        source=posting.workforce.source, name__in={remote.worker for remote in remotes}
    )
    return {*posting.tickets.values_list("surrogate_id", flat=True), *named.values_list("surrogate_id", flat=True)}


def _take_one(posting: Posting, remote: RemoteAssignment) -> bool | None:
    """Take a submission in and return whether it is new; None if it cannot be taken in now."""
    try:
        with transaction.atomic():
            return _take(posting, remote, timezone.now())
    except Exception as error:
        if is_transient(error):
            raise
        logger.exception("assignment %s of %s could not be taken in", remote.remote_id, posting.hit_id)
        return None


def _take(posting: Posting, remote: RemoteAssignment, now: datetime) -> bool:
    """Match one listed submission with what we know of it."""
    ticket = _ticket_of(posting, remote)
    if ticket is None:
        ticket = stranger_record(posting=posting, remote=remote, now=now)
    elif ticket.posting_id != posting.pk:  # the address named another HIT of ours
        Ticket.objects.filter(pk=ticket.pk).update(posting=posting)
        ticket.posting = posting
    new = ticket_confirm(ticket=ticket, remote=remote, now=now)
    ticket.refresh_from_db()
    if remote.status == "Approved" and ticket.state != TicketState.APPROVED:
        ticket_paid(ticket=ticket, errand=None, now=now)  # the marketplace's clock approved it
    elif remote.status == "Rejected" and ticket.state in (TicketState.SUBMITTED, TicketState.UNMATCHED):
        Ticket.objects.filter(pk=ticket.pk).update(state=TicketState.REFUSED, decided_at=now)
    return new


def _ticket_of(posting: Posting, remote: RemoteAssignment) -> Ticket | None:
    """Return the ticket of a submission; of somebody who was erased the assignment alone is known."""
    own = Ticket.objects.select_related("workforce__campaign", "posting__workforce").filter(
        workforce=posting.workforce, remote_id=remote.remote_id
    )
    source = posting.workforce.source
    named = own.filter(surrogate__external__source=source, surrogate__external__name=remote.worker).first()
    return named or own.filter(posting=posting, surrogate__external=None).first()
