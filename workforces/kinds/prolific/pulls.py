"""Reading a study's submissions, and storing what became of them."""

import logging
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from accounts.models import ExternalIdentity
from annotation.slots.services.counting import annotations_exclude, submissions_give_up
from annotation.slots.services.participation_locks import people_lock
from annotation.slots.services.sweeps import assignments_end
from database.transactions import is_transient
from jobs.work import Work
from workforces.kinds.base import Outcome
from workforces.kinds.prolific.client import FINISHED, PAID, REJECTED, RETURNED, TIMED_OUT, Prolific, RemoteSubmission
from workforces.kinds.prolific.terms import LONGEST_REVIEW_SECONDS, codes_of
from workforces.models import ErrandState, Posting, Ticket, TicketState
from workforces.services.identities import tickets_claimed
from workforces.services.pay import pay_errands, ticket_paid
from workforces.services.submissions import ticket_confirm, unmatched_record
from workforces.services.tickets import ticket_annotations, ticket_lapse
from workforces.services.visits import has_begun

logger = logging.getLogger(__name__)

EVERYTHING_SECONDS = 600  # between two readings of all submissions; new ones are read each round
TOLD_SECONDS = 60  # where Prolific said that something changed
_DECIDED = {TicketState.APPROVED, TicketState.REFUSED}
# The states of a ticket that say what a submission's status says.
SETTLES: dict[str, set[str]] = {
    FINISHED: {*_DECIDED, TicketState.SUBMITTED, TicketState.UNMATCHED},
    **{status: {TicketState.APPROVED} for status in PAID},
    REJECTED: {TicketState.REFUSED},
    RETURNED: {*_DECIDED, TicketState.LAPSED},
    TIMED_OUT: {*_DECIDED, TicketState.LAPSED, TicketState.UNMATCHED, TicketState.SUBMITTED},
}
TOO_LATE = gettext_noop("Finished here, but the time was up on Prolific")


def submissions_pull(*, work: Work, client: Prolific, posting: Posting, now: datetime, is_told: bool) -> int:
    """Read what waits for review, and from time to time everything; return the number of new submissions.

    ``is_told``: Prolific said that something changed. A submission that can't be stored doesn't stop the others; then
    everything is read again.
    """
    before = now - timedelta(seconds=TOLD_SECONDS if is_told else EVERYTHING_SECONDS)
    everything = posting.pulled_at is None or posting.pulled_at < before
    taken: list[bool | None] = []
    for remotes in client.submissions(posting.hit_id, "" if everything else FINISHED):
        news = _news(posting, remotes)
        if not news:
            continue
        with work.step():
            people_lock(campaign_id=posting.workforce.campaign_id, surrogate_ids=_people_of(posting, news))
            taken += [_take_one(posting, remote) for remote in news]
    if everything and None not in taken:
        with work.step():
            Posting.objects.filter(pk=posting.pk).update(pulled_at=now, tried_at=now)
    return sum(map(bool, taken))


def _news(posting: Posting, remotes: list[RemoteSubmission]) -> list[RemoteSubmission]:
    """Return the submissions whose tickets aren't in the state that they say, in one statement for all."""
    known = Ticket.objects.filter(
        workforce=posting.workforce, remote_id__in={remote.remote_id for remote in remotes}
    ).values_list("remote_id", "state")
    states: dict[str, set[str]] = {}
    for remote_id, state in known:
        states.setdefault(remote_id, set()).add(state)
    return [
        remote
        for remote in remotes
        if remote.status in SETTLES and not states.get(remote.remote_id, set()) & SETTLES[remote.status]
    ]


def _take_one(posting: Posting, remote: RemoteSubmission) -> bool | None:
    """Store what a submission says and return whether it is new; None if it can't be stored now."""
    try:
        with transaction.atomic():
            return _take(posting, remote, timezone.now())
    except Exception as error:
        if is_transient(error):
            raise
        logger.exception("submission %s of %s could not be taken in", remote.remote_id, posting.hit_id)
        return None


def _people_of(posting: Posting, remotes: list[RemoteSubmission]) -> set[UUID]:
    """Return the people who may be affected by these submissions."""
    source = posting.workforce.source
    named = ExternalIdentity.objects.filter(source=source, name__in={remote.worker for remote in remotes})
    visits = Ticket.objects.filter(
        workforce=posting.workforce, remote_id__in={remote.remote_id for remote in remotes}
    ).values_list("surrogate_id", flat=True)
    return {*visits, *named.values_list("surrogate_id", flat=True)}


def _take(posting: Posting, remote: RemoteSubmission, now: datetime) -> bool:
    """Store what a submission says about our ticket; return whether it is new."""
    ticket = _ticket_of(posting, remote)
    if remote.status in (FINISHED, *PAID, REJECTED):
        return _finished(posting, ticket, remote, now)
    if ticket is not None and remote.status in (RETURNED, TIMED_OUT):
        _left(ticket, remote, now)
    return False


def _finished(posting: Posting, ticket: Ticket | None, remote: RemoteSubmission, now: datetime) -> bool:
    codes = codes_of(posting.workforce.secret)
    if ticket is None:
        if remote.status == REJECTED:
            return False
        ticket = unmatched_record(posting=posting, remote=remote, now=now)
    elif remote.status == FINISHED and not has_begun(ticket) and remote.code in _without_work(codes):
        return False  # Prolific asks for the place back
    elif ticket.posting_id != posting.pk:
        Ticket.objects.filter(pk=ticket.pk).update(posting=posting)
        ticket.posting = posting
    new = ticket_confirm(ticket=ticket, remote=remote, has_code=remote.code == codes[Outcome.COMPLETED], now=now)
    if new:
        until = remote.submitted_at + timedelta(seconds=LONGEST_REVIEW_SECONDS)
        Ticket.objects.filter(pk=ticket.pk).update(auto_approval_at=until)
    ticket.refresh_from_db()
    if remote.status in PAID and ticket.state != TicketState.APPROVED:
        ticket_paid(ticket=ticket, errand=None, now=now)
    elif remote.status == REJECTED and ticket.state in (TicketState.SUBMITTED, TicketState.UNMATCHED):
        Ticket.objects.filter(pk=ticket.pk).update(state=TicketState.REFUSED, decided_at=now)
    return new


def _without_work(codes: dict[Outcome, str]) -> set[str]:
    return {codes[Outcome.SCREENED_OUT], codes[Outcome.NOTHING_LEFT]}


def _left(ticket: Ticket, remote: RemoteSubmission, now: datetime) -> None:
    """Give up what its person returned or didn't finish in time.

    Work that is finished here, of someone who was too late there, waits for a manager: it may still be paid.
    """
    if ticket.state == TicketState.OPEN or (ticket.state == TicketState.ANSWERED and remote.status == RETURNED):
        ticket_lapse(ticket=ticket, because="not submitted", now=now)
        assignments_end(campaign_id=ticket.workforce.campaign_id, surrogate_id=ticket.surrogate_id, now=now)
    elif ticket.state == TicketState.ANSWERED:
        changes = {"state": TicketState.UNMATCHED, "problem": TOO_LATE, "submitted_at": now}
        if Ticket.objects.filter(pk=ticket.pk, state=TicketState.ANSWERED).update(**changes):
            submissions_give_up(annotations=ticket_annotations(ticket), because=TOO_LATE, now=now)
    elif ticket.state in (TicketState.SUBMITTED, TicketState.UNMATCHED) and remote.status == RETURNED:
        # Taken back after it was submitted: it isn't paid, so it isn't used either.
        pay_errands(ticket, ErrandState.DUE).update(state=ErrandState.UNDONE)
        Ticket.objects.filter(pk=ticket.pk).update(state=TicketState.REFUSED, decided_at=now)
        work = ticket_annotations(ticket)
        submissions_give_up(annotations=work, because="returned", now=now)
        annotations_exclude(annotations=work, because="returned on Prolific", actor_id=None, now=now)


def _ticket_of(posting: Posting, remote: RemoteSubmission) -> Ticket | None:
    """Return the ticket of a submission: of its person, or the only unconfirmed visit with these ids that it can be."""
    own = Ticket.objects.select_related("workforce__campaign", "posting__workforce").filter(
        workforce=posting.workforce, remote_id=remote.remote_id
    )
    source = posting.workforce.source
    named = own.filter(surrogate__external__source=source, surrogate__external__name=remote.worker).first()
    alike = list(tickets_claimed(workforce=posting.workforce, name=remote.worker, remote_id=remote.remote_id)[:3])
    # Of one person who opened the link twice, the visit that was finished; of two finished ones a manager decides.
    finished = [ticket for ticket in alike if ticket.answered_at is not None]
    likely = alike if len(alike) == 1 else finished
    nobody = own.filter(surrogate__external=None, surrogate__claimed=None)
    return named or (likely[0] if len(likely) == 1 else None) or nobody.first()
