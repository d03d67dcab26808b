"""Tickets: units of work that a person from a marketplace or a panel takes, answers and submits.

The data in an address is a claim. An answer is provisional and fills its slot until the marketplace lists the
finished assignment with our code (or had signed the address); then it counts and is paid.
"""

import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils.translation import gettext_noop

from accounts.selectors import is_known
from annotation.models import (
    BLOCKING,
    HOLDING,
    Annotation,
    AnnotationState,
    Assignment,
    AssignmentState,
)
from annotation.slots.services.claims import Claim, Reason, claim_next
from annotation.slots.services.counting import submissions_give_up
from annotation.slots.services.participation_locks import participation_lock
from annotation.work.services.assignments import AssignmentOver, NoSuchAssignment
from annotation.work.services.submissions import Taken, answer_take, assignment_submit
from database.statements import Insert, Statement, Update
from database.transactions import durable, require_transaction
from web.errors import KeyedError
from workforces.kinds.base import Arrival, Outcome
from workforces.kinds.registry import KINDS
from workforces.models import PostingState, Ticket, TicketState, TicketWork, Workforce
from workforces.services.identities import surrogate_begin, ticket_people_lock
from workforces.services.pay import REFUSED_BEFORE, is_pay_refused
from workforces.services.terms import is_provisional, terms_of, ticket_terms

# Why a person is kept from coming again.
EXCLUDING = (Reason.ALL_SEEN, Reason.SUSPENDED, Reason.QUOTA_REACHED)
FALLS_SHORT = gettext_noop("Submitted with fewer items than required")


class TicketRefused(KeyedError):
    """An arrival can't become a ticket; the message gives the reason."""


def ticket_open(*, workforce: Workforce, arrival: Arrival, found: Ticket | None, now: datetime) -> Ticket:
    """Return the ticket of an arrival (``found``, if there is one); create it at the first visit.

    Raises
    ------
    TicketRefused
        The HIT belongs to another campaign, or is over.
    """
    if found is not None:
        return _taken_again(found, now) if found.state == TicketState.LAPSED else found
    with transaction.atomic():
        posting = KINDS[workforce.kind].admit(workforce=workforce, arrival=arrival, now=now)
        surrogate_id = surrogate_begin(workforce=workforce, arrival=arrival)
        ticket = Ticket(
            workforce=workforce,
            remote_id=arrival.remote_id,
            surrogate_id=surrogate_id,
            posting=posting,
            code=secrets.token_urlsafe(18),
            is_signed=arrival.is_signed,
            opened_at=now,
            visit=UUID(arrival.visit) if arrival.visit else None,
        )
        if _ADD.run(ticket):
            return ticket
        stored: Ticket | None = _ONCE.first(workforce.pk, arrival.remote_id, surrogate_id)  # of another tab
        if stored is None:
            raise IntegrityError(f"visit {arrival.visit} has a ticket of another assignment")
        return stored


_ADD = Insert(Ticket, once=True)
_ONCE = Statement(
    lambda workforce, remote_id, surrogate_id: Ticket.objects.filter(
        workforce_id=workforce, remote_id=remote_id, surrogate_id=surrogate_id
    ),
    int,
    str,
    UUID,
)


def _taken_again(ticket: Ticket, now: datetime) -> Ticket:
    """Reopen a ticket that was given up, because the same person accepted the same assignment again."""
    if ticket.posting is not None and ticket.posting.state == PostingState.SETTLED:
        raise TicketRefused("hit_over")
    with transaction.atomic():
        Ticket.objects.filter(pk=ticket.pk, state=TicketState.LAPSED).update(state=TicketState.OPEN, opened_at=now)
        if ticket.work.count() >= ticket_terms(ticket).items_per_ticket:
            ticket_finish(ticket=ticket, outcome=Outcome.COMPLETED, now=now)
    ticket.refresh_from_db()
    return ticket


def is_owed(ticket: Ticket) -> bool:
    """Return whether a ticket only pays its holder for earlier work, on a posting that nobody else can take."""
    return ticket.posting is not None and ticket.posting.owed_to_id is not None


@durable
def ticket_claim(*, ticket: Ticket, now: datetime) -> Claim:
    """Return the current item or the next one; a ticket with all its answers gets none."""
    claim = claim_next(campaign=ticket.workforce.campaign, surrogate_id=ticket.surrogate_id, now=now)
    if claim.assignment is None and claim.reason in EXCLUDING:
        KINDS[ticket.workforce.kind].exclude(
            workforce=ticket.workforce, surrogate_id=ticket.surrogate_id, why=str(claim.reason), now=now
        )
    return claim


def assignment_check(*, ticket: Ticket, assignment_id: UUID) -> None:
    """Raise `NoSuchAssignment` unless the ticket's person holds or held this assignment in its campaign."""
    if not _OWN.rows(ticket.workforce.campaign_id, ticket.surrogate_id, assignment_id):
        raise NoSuchAssignment


def _own_query(campaign_id: UUID, surrogate_id: UUID, pk: UUID) -> QuerySet[Assignment, Any]:
    own = Assignment.objects.filter(campaign_id=campaign_id, surrogate_id=surrogate_id)
    return own.filter(pk=pk).values_list("pk")


def _own_again_query(campaign_id: UUID, surrogate_id: UUID, pk: UUID) -> QuerySet[Assignment, Any]:
    own = Assignment.objects.filter(campaign_id=campaign_id, surrogate_id=surrogate_id)
    again = own.filter(item=OuterRef("item"), state__in=BLOCKING).exclude(pk=OuterRef("pk"))
    return own.filter(Exists(again), pk=pk, state=AssignmentState.EXPIRED).values_list("pk")


_OWN = Statement(_own_query, UUID, UUID, UUID)
_OWN_AGAIN = Statement(_own_again_query, UUID, UUID, UUID)


def _check_is_last(ticket: Ticket, assignment_id: UUID) -> None:
    """Refuse an answer to an expired assignment if its author was given the item again: an item is paid once.

    Raises
    ------
    AssignmentOver
    """
    if _OWN_AGAIN.rows(ticket.workforce.campaign_id, ticket.surrogate_id, assignment_id):
        raise AssignmentOver(AssignmentState.EXPIRED)


@durable
def ticket_answer(
    *, ticket: Ticket, assignment_id: UUID, stage: str, sent: dict[str, Any], version: int, now: datetime
) -> Ticket:
    """Submit an answer; after the last stage of the last item, the ticket can be submitted.

    It runs in one transaction, so an answer is never stored without its ticket, or a ticket without its answer.

    Raises
    ------
    AnswerError, DraftConflict, AssignmentOver, NoSuchAssignment
    """
    return _taken(ticket, assignment_id, partial(answer_take, stage=stage, sent=sent, version=version, now=now), now)


@durable
def ticket_submit(*, ticket: Ticket, assignment_id: UUID, now: datetime) -> Ticket:
    """Submit a finished draft; see `ticket_answer`."""
    return _taken(ticket, assignment_id, partial(assignment_submit, now=now), now)


def _taken(ticket: Ticket, assignment_id: UUID, take: Callable[..., Taken], now: datetime) -> Ticket:
    """Record work as part of this ticket, once."""
    # The person first, then the ticket, then the assignment, as everywhere.
    participation_lock(campaign_id=ticket.workforce.campaign_id, surrogate_id=ticket.surrogate_id)
    [(state,)] = _STATE_LOCKED.rows(ticket.pk)
    terms = ticket_terms(ticket)
    if not _WORK_ON.rows(ticket.pk, assignment_id):
        if state != TicketState.OPEN or len(_WORK.rows(ticket.pk)) >= terms.items_per_ticket:
            raise AssignmentOver(state)
        assignment_check(ticket=ticket, assignment_id=assignment_id)
        _check_is_last(ticket, assignment_id)
        taken = take(
            assignment_id=assignment_id,
            surrogate_id=ticket.surrogate_id,
            via=ticket.workforce.kind,
            is_provisional=is_provisional(ticket),
            another=False,
        )
        if taken.annotation is None:
            return ticket
        _ADD_WORK.run(TicketWork(annotation=taken.annotation, ticket=ticket))
    if len(_WORK.rows(ticket.pk)) >= terms.items_per_ticket:
        ticket_finish(ticket=ticket, outcome=Outcome.COMPLETED, now=now)
    ticket_refresh(ticket)
    return ticket


def ticket_refresh(ticket: Ticket) -> None:
    """Read a ticket's row again."""
    _BY_KEY.refresh(ticket, ticket.pk)


_BY_KEY = Statement(lambda pk: Ticket.objects.filter(pk=pk), int)
_ADD_WORK = Insert(TicketWork, once=True)
_STATE_LOCKED = Statement(
    lambda pk: Ticket.objects.select_for_update(no_key=True, of=("self",)).filter(pk=pk).values_list("state"), int
)
_WORK = Statement(lambda ticket: TicketWork.objects.filter(ticket_id=ticket).values_list("pk"), int)
_WORK_ON = Statement(
    lambda ticket, assignment: TicketWork.objects.filter(
        ticket_id=ticket, annotation__assignment=assignment
    ).values_list("pk")[:1],
    int,
    UUID,
)


def ticket_finish(*, ticket: Ticket, outcome: Outcome, now: datetime, problem: str = "") -> bool:
    """Mark a ticket as ready to be submitted; if no confirmation is needed, it is submitted.

    With a ``problem``, a manager decides about it after the submission; at once if the holder's pay was refused.
    """
    require_transaction()
    waits = is_provisional(ticket)
    state = TicketState.ANSWERED if waits else TicketState.SUBMITTED
    if not waits and is_pay_refused(campaign_id=ticket.workforce.campaign_id, surrogate_id=ticket.surrogate_id):
        state, problem = TicketState.UNMATCHED, problem or REFUSED_BEFORE
    return bool((_ANSWERED if waits else _SUBMITTED).run(ticket.pk, state, outcome, problem, now))


def _finish_of(*times: str) -> Update:
    return Update(
        lambda pk, state, outcome, problem, now: (
            Ticket.objects.filter(pk=pk, state=TicketState.OPEN),
            {"state": state, "outcome": outcome, "problem": problem, **dict.fromkeys(times, now)},
        ),
        int,
        str,
        str,
        str,
        datetime,
    )


_ANSWERED, _SUBMITTED = _finish_of("answered_at"), _finish_of("answered_at", "submitted_at")


def tickets_lapse(*, workforce: Workforce, now: datetime) -> int:
    """Give up tickets that weren't submitted in time, once the marketplace was read after their time limit.

    Their slots reopen; the answers stay, and count if the submission appears later and the slot is still free.
    """
    # A posting keeps its terms, so that nobody loses time that they were promised.
    own = terms_of(workforce)
    given = [own.assignment_seconds] + [
        terms.get("assignment_seconds", 0)
        for terms in workforce.postings.exclude(state=PostingState.SETTLED).values_list("terms", flat=True)
    ]
    long = timedelta(seconds=max(given) + settings.MTURK_GRACE_SECONDS)
    was_read = (
        Q(posting=None) | Q(posting__state=PostingState.SETTLED) | Q(posting__pulled_at__gte=F("opened_at") + long)
    )
    waited = Q(state=TicketState.OPEN) | Q(answered_at__lt=now - timedelta(seconds=own.confirm_seconds))
    due = Ticket.objects.filter(
        was_read,
        waited,
        workforce=workforce,
        state__in=[TicketState.OPEN, TicketState.ANSWERED],
        opened_at__lt=now - long,
    )
    lapsed = 0
    for ticket in due.select_related("workforce").order_by("pk")[:200]:
        with transaction.atomic():
            ticket_people_lock(ticket)
            lapsed += ticket_lapse(ticket=ticket, because="not submitted", now=now)
    return lapsed


def ticket_lapse(*, ticket: Ticket, because: str, now: datetime) -> bool:
    """Give up a ticket whose people are locked: its slots reopen; return whether it was still in that state."""
    require_transaction()
    moved = Ticket.objects.filter(pk=ticket.pk, state=ticket.state).update(state=TicketState.LAPSED)
    if moved:
        submissions_give_up(annotations=ticket_annotations(ticket), because=because, now=now)
    return bool(moved)


def visits_lapse(now: datetime) -> None:
    """Give up expired tickets of workforces without postings; rounds at the marketplace handle the others."""
    ways = Workforce.objects.filter(kind__in=[key for key, kind in KINDS.items() if not kind.confirms])
    waiting = Ticket.objects.filter(workforce=OuterRef("pk"), state__in=[TicketState.OPEN, TicketState.ANSWERED])
    for workforce in ways.filter(Exists(waiting)).select_related("campaign").order_by("pk"):
        tickets_lapse(workforce=workforce, now=now)


def falls_short(ticket: Ticket, *, ran_out: bool) -> bool:
    """Return whether a ticket holds less work than required, so that a manager decides about its pay.

    A person who did all available work before items ran out is paid, if they returned no item and no other ticket of
    theirs is short. Otherwise several tickets with one answer each would be paid like complete ones. The person behind
    an unsigned address isn't known yet, nor is it known who holds the last items.
    """
    if is_owed(ticket) or ticket.work.count() >= ticket_terms(ticket).items_per_ticket:
        return False
    if not ran_out or not ticket.is_signed:
        return True
    own = {"campaign_id": ticket.workforce.campaign_id, "surrogate_id": ticket.surrogate_id}
    gave_back = Assignment.objects.filter(**own, state=AssignmentState.SKIPPED).exists()
    return gave_back or _has_another_begun(ticket) or _is_kept_by_nobody(ticket)


def _is_kept_by_nobody(ticket: Ticket) -> bool:
    """Return whether unconfirmed visits hold items of a ticket's campaign.

    Anyone can make such visits and hold the remaining items, so that a small part of the work seems to be all there is.
    """
    here = {"campaign_id": ticket.workforce.campaign_id}
    held = Assignment.objects.filter(~is_known(), **here, state__in=HOLDING)
    filled = Annotation.objects.filter(~is_known(), **here, state=AnnotationState.PROVISIONAL)
    return held.exists() or filled.exists()


def _has_another_begun(ticket: Ticket) -> bool:
    """Return whether a person has another unfinished ticket of this campaign, for which they may be paid."""
    others = Ticket.objects.filter(
        workforce__campaign=ticket.workforce.campaign_id, surrogate=ticket.surrogate_id, work__isnull=False
    )
    begun = others.exclude(pk=ticket.pk).exclude(state=TicketState.LAPSED).annotate(done=Count("work"))
    return any(
        other.done < ticket_terms(other).items_per_ticket  # each by its own terms
        for other in begun.select_related("workforce", "posting__workforce").iterator(chunk_size=200)
    )


def ticket_annotations(ticket: Ticket) -> list[Annotation]:
    """Return the annotations submitted with a ticket."""
    return _ANSWERS.instances(ticket.pk)


_ANSWERS = Statement(lambda ticket: Annotation.objects.filter(ticket_work__ticket=ticket).order_by("pk"), int)
