"""Actions of people from a marketplace or a panel other than answering."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models.functions import TruncDay

from annotation.models import Campaign
from annotation.people.services.training import Lesson, lesson_answer
from annotation.people.services.withdrawal import participation_consent
from annotation.slots.services.claims import Claim
from annotation.work.services.submissions import assignment_skip
from database.statements import Statement
from database.transactions import durable
from workforces.kinds.base import Arrival, Outcome
from workforces.kinds.registry import KINDS
from workforces.models import Posting, Ticket, TicketState, TicketWork, Workforce
from workforces.services.identities import surrogate_begin, ticket_find
from workforces.services.tickets import FALLS_SHORT, falls_short, is_owed, ticket_finish, ticket_open


@durable
def visitor_consent(*, workforce: Workforce, arrival: Arrival, text_id: int, now: datetime) -> None:
    """Record a visitor's consent; no data about the visitor is stored before."""
    KINDS[workforce.kind].admit(workforce=workforce, arrival=arrival, now=now)  # refused here, nothing is recorded
    ticket = ticket_find(workforce=workforce, arrival=arrival)
    surrogate_id = ticket.surrogate_id if ticket else surrogate_begin(workforce=workforce, arrival=arrival)
    participation_consent(campaign=workforce.campaign, text_id=text_id, surrogate_id=surrogate_id, now=now)


def visitor_unlink(*, campaign: Campaign, before: UUID, **_: Any) -> None:
    """Delete the links from a person's tickets to their work, because they withdrew."""
    tickets = Ticket.objects.filter(workforce__campaign=campaign, surrogate_id=before)
    TicketWork.objects.filter(ticket__in=tickets).delete()
    # The exact moment of an answer would lead from the ticket to the annotation.
    tickets.update(answered_at=TruncDay("answered_at"))
    tickets.filter(posting=None).update(submitted_at=TruncDay("submitted_at"))


@durable
def visitor_learn(*, ticket: Ticket, number: int, sent: Mapping[str, Any], now: datetime) -> Lesson | None:
    """Submit an answer to a training example; the ticket with the last example is paid for the training round."""
    lesson = lesson_answer(
        campaign=ticket.workforce.campaign, surrogate_id=ticket.surrogate_id, number=number, sent=sent, now=now
    )
    if lesson is not None and lesson.finishes:
        Ticket.objects.filter(pk=ticket.pk).update(trained=True)
    return lesson


def visit_skip(*, ticket: Ticket, assignment_id: UUID, reason: str, note: str, now: datetime) -> Claim:
    """Return an item with a reason; skipping never counts against anyone."""
    return assignment_skip(
        assignment_id=assignment_id, surrogate_id=ticket.surrogate_id, reason=reason, note=note, now=now
    )


@durable
def visit_end(*, ticket: Ticket, ran_out: bool, now: datetime) -> bool:
    """Make a ticket ready to be submitted, if it holds any work; return whether it is ready.

    ``ran_out``: this person gets no more items because none are left, not because they may have no more.
    """
    has_work = ticket.work.exists()
    if not has_begun(ticket) and not is_owed(ticket):
        return False
    is_short = falls_short(ticket, ran_out=ran_out)
    outcome = Outcome.COMPLETED if has_work and not is_short else Outcome.NOTHING_LEFT
    problem = FALLS_SHORT if is_short else ""
    return ticket_finish(ticket=ticket, outcome=outcome, now=now, problem=problem) or _is_finished(ticket)


def has_begun(ticket: Ticket) -> bool:
    """Return whether a ticket holds any work; training counts as work."""
    return ticket.trained or ticket.work.exists()


def owed_collect(*, workforce: Workforce, arrival: Arrival, found: Ticket | None, now: datetime) -> Ticket | None:
    """Return the ticket of a HIT that only pays a debt to this person, ready to be submitted; else None.

    Consent isn't required for payment, because no new data about the person is recorded.
    """
    if not arrival.posting or not _OWED.rows(workforce.pk, arrival.posting, workforce.source, arrival.worker):
        return None
    ticket = ticket_open(workforce=workforce, arrival=arrival, found=found, now=now)
    visit_end(ticket=ticket, ran_out=True, now=now)
    ticket.refresh_from_db()
    return ticket


_OWED = Statement(
    lambda workforce, hit_id, source, name: Posting.objects.filter(
        workforce_id=workforce, hit_id=hit_id, owed_to__external__source=source, owed_to__external__name=name
    ).values_list("pk")[:1],
    int,
    str,
    str,
    str,
)


def _is_finished(ticket: Ticket) -> bool:
    return Ticket.objects.filter(pk=ticket.pk).exclude(state__in=[TicketState.OPEN, TicketState.LAPSED]).exists()
