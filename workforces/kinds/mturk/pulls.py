"""Pulls: reading the marketplace's lists of submissions, and storing them."""

import logging
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q
from django.utils import timezone

from accounts.selectors import external_known
from annotation.slots.services.participation_locks import people_lock
from database.statements import Statement, Update
from database.transactions import is_transient
from jobs.work import LeaseLost, Work, WorkerStopping
from workforces.kinds.base import Refused, Unreachable
from workforces.kinds.mturk.client import Market, RemoteAssignment
from workforces.kinds.mturk.postings import HANDED_IN, is_waiting
from workforces.kinds.mturk.terms import CODE_FIELD
from workforces.models import Posting, PostingState, Ticket, TicketState, Workforce
from workforces.services.identities import ticket_named, tickets_claimed
from workforces.services.inflight import run_in_flight
from workforces.services.pay import ticket_paid
from workforces.services.submissions import ticket_confirm, unmatched_record
from workforces.services.tickets import ticket_refresh

logger = logging.getLogger(__name__)

MOST_READ = 200  # postings a round
TURN = 5  # postings on which an answer waits, to one of the others: people wait to hear that their work came in
PARTLY = 2  # how many times longer an answer waits while other places of its posting are free
QUIET = 10  # how many times less often a posting is read that has no answer on our pages
UNPAID = 120  # and one that ended, with nothing left but pay that we decide by ourselves
MOST_SILENT = 3  # postings that get no answer: then it is the marketplace, not the posting


@dataclass
class Pulled:
    """The result of reading postings: new submissions, the last problem, and whether all due postings were read."""

    new: int = 0
    problem: str = ""
    silent: int = 0
    is_complete: bool = False


def postings_pull(*, work: Work, market: Market, workforce: Workforce, seconds: float) -> Pulled:
    """Read the submissions of unsettled postings, several at once, those with an answer first.

    A posting that can't be read doesn't stop the reading of others.

    Raises
    ------
    Unreachable
        The marketplace doesn't respond.
    """
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

    postings = islice(_due_in_turns(workforce), MOST_READ)
    found.is_complete = run_in_flight(postings, pull, calls=settings.MTURK_CALLS_IN_FLIGHT, seconds=seconds)
    return found


def _due_in_turns(workforce: Workforce) -> Iterator[Posting]:
    """Yield the postings to read now: alternately some that probably have news, and one of the others.

    Answers are given on our pages, and their forms are sent at once. So a posting probably has a submission if a
    ticket was answered some time ago. While other places are free, the answer waits longer, so that one reading finds
    several. An ended posting can be settled once all pay is decided. The others are read seldom, for events that we
    don't see, and very seldom if only our pay is missing. In each group, those that waited longest come first.
    """
    now = timezone.now()
    own = Ticket.objects.filter(posting=OuterRef("pk"))
    is_unpaid = Exists(own.filter(state__in=[TicketState.SUBMITTED, TicketState.UNMATCHED]))
    answered = own.filter(state=TicketState.ANSWERED)
    is_full = Q(given__gte=F("places")) & Exists(answered.filter(answered_at__lte=_before(now, 1)))
    is_answered = is_full | Exists(answered.filter(answered_at__lte=_before(now, PARTLY)))
    is_expected = is_answered | Q(state=PostingState.ENDED) & ~is_unpaid
    is_known = Q(state=PostingState.ENDED, pulled_at__gte=F("tried_at"))  # the last reading took all of it in
    only_unpaid = is_known & ~Exists(own.filter(state=TicketState.OPEN))
    seldom = _was_not_read(now, QUIET) & ~only_unpaid | _was_not_read(now, UNPAID)
    postings = (
        workforce.postings.exclude(hit_id="")
        .exclude(state=PostingState.SETTLED)
        .annotate(given=Count("tickets", filter=Q(tickets__state__in=[TicketState.ANSWERED, *HANDED_IN])))
        .select_related("workforce__campaign")
        .order_by(F("tried_at").asc(nulls_first=True), "pk")
    )
    expected = iter(postings.filter(is_expected, _was_not_read(now, 1))[:MOST_READ])
    others = iter(postings.exclude(is_expected).filter(seldom)[:MOST_READ])
    while turn := [*islice(expected, TURN), *islice(others, 1)]:
        yield from turn


def _was_not_read(now: datetime, times: int) -> Q:
    # Later than now: the clock was wrong then.
    is_new = Q(tried_at=None) & (Q(wanted_at__lte=_before(now, times)) | Q(wanted_at__gt=now))
    return is_new | Q(tried_at__lt=_before(now, times)) | Q(tried_at__gt=now)


def _before(now: datetime, times: int) -> datetime:
    return now - timedelta(seconds=times * settings.MTURK_PULL_SECONDS)


def _tried(work: Work, posting: Posting, began: datetime) -> None:
    with work.step():
        Posting.objects.filter(pk=posting.pk).update(tried_at=began)


def _unreadable(work: Work, posting: Posting, error: Refused, began: datetime) -> None:
    """Record an attempt to read a posting.

    A posting that no longer exists is settled; its unlisted submissions never arrive.
    """
    gone = {"state": PostingState.SETTLED, "pulled_at": began} if "DoesNotExist" in error.code else {}
    with work.step():
        Posting.objects.filter(pk=posting.pk).update(tried_at=began, **gone)


def _pull(work: Work, market: Market, posting: Posting, began: datetime) -> int:
    """Store the marketplace's submissions of a posting.

    If a submission can't be stored, the others are, and the posting is read again: it is neither settled
    nor marked as read, so that no submission is lost.
    """
    settles = posting.state == PostingState.ENDED and market.pending(posting.hit_id) == 0
    remotes = list(market.assignments(posting.hit_id))
    with work.step():
        people_lock(campaign_id=posting.workforce.campaign_id, surrogate_ids=_people_of(posting, remotes))
        taken = [_take_one(posting, remote) for remote in remotes]
        if None in taken:
            Posting.objects.filter(pk=posting.pk).update(tried_at=began)
        else:
            _READ.run(posting.pk, began)
            if settles and not posting.tickets.filter(is_waiting()).exists():
                Posting.objects.filter(pk=posting.pk).update(state=PostingState.SETTLED)
    return sum(map(bool, taken))


def _people_of(posting: Posting, remotes: Sequence[RemoteAssignment]) -> set[UUID]:
    """Return the people who may be affected by these submissions."""
    source = posting.workforce.source
    people = {ticket.surrogate_id for ticket in _TICKETS.instances(posting.pk)}
    for worker in {remote.worker for remote in remotes}:
        if (known := external_known(source=source, name=worker)) is not None:
            people.add(known)
    return people


_TICKETS = Statement(lambda posting: Ticket.objects.filter(posting_id=posting).only("surrogate_id"), int)
_READ = Update(
    lambda pk, began: (Posting.objects.filter(pk=pk), {"tried_at": began, "pulled_at": began}), int, datetime
)


def _take_one(posting: Posting, remote: RemoteAssignment) -> bool | None:
    """Store a submission and return whether it is new; None if it can't be stored now."""
    try:
        with transaction.atomic():
            return _take(posting, remote, timezone.now())
    except Exception as error:
        if is_transient(error):
            raise
        logger.exception("assignment %s of %s could not be taken in", remote.remote_id, posting.hit_id)
        return None


def _take(posting: Posting, remote: RemoteAssignment, now: datetime) -> bool:
    """Match one listed submission with our tickets."""
    ticket = _ticket_of(posting, remote)
    if ticket is None:
        ticket = unmatched_record(posting=posting, remote=remote, now=now)
    elif ticket.posting_id != posting.pk:  # the address named another HIT of ours
        Ticket.objects.filter(pk=ticket.pk).update(posting=posting)
        ticket.posting = posting
    has_code = remote.answers.get(CODE_FIELD) == ticket.code
    new = ticket_confirm(ticket=ticket, remote=remote, has_code=has_code, now=now)
    ticket_refresh(ticket)
    if remote.status == "Approved" and ticket.state != TicketState.APPROVED:
        ticket_paid(ticket=ticket, errand=None, now=now)  # the marketplace's clock approved it
    elif remote.status == "Rejected" and ticket.state in (TicketState.SUBMITTED, TicketState.UNMATCHED):
        Ticket.objects.filter(pk=ticket.pk).update(state=TicketState.REFUSED, decided_at=now)
    return new


def _ticket_of(posting: Posting, remote: RemoteAssignment) -> Ticket | None:
    """Return the ticket of a submission.

    The ticket of an unconfirmed visit is found by its code, or if it is the only one with these ids. For an erased
    person, only the assignment identifies it.
    """
    named = ticket_named(workforce=posting.workforce, remote_id=remote.remote_id, name=remote.worker)
    if named is not None:
        if named.posting_id == posting.pk:
            named.posting = posting  # with its workforce
        return named
    own = Ticket.objects.select_related("workforce__campaign", "posting__workforce").filter(
        workforce=posting.workforce, remote_id=remote.remote_id
    )
    unconfirmed = own.filter(surrogate__claimed__isnull=False, code=remote.answers.get(CODE_FIELD, "")).first()
    alike = tickets_claimed(workforce=posting.workforce, name=remote.worker, remote_id=remote.remote_id)[:2]
    nobody = own.filter(posting=posting, surrogate__external=None, surrogate__claimed=None)
    return unconfirmed or (alike[0] if len(alike) == 1 else None) or nobody.first()
