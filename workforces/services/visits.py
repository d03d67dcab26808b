"""What people from a marketplace or a panel do besides answering."""

from datetime import datetime
from uuid import UUID

from django.core import signing
from django.db.models.functions import TruncDay

from accounts.services import external_surrogate
from accounts.transactions import durable
from annotation.services.claims import Claim, participation_lock
from annotation.services.training import Lesson, lesson_answer
from annotation.services.withdrawal import participation_withdraw
from annotation.services.work import assignment_skip
from workforces.kinds.base import Arrival, Outcome
from workforces.models import Ticket, TicketState, TicketWork, Workforce
from workforces.services.tickets import is_owed, ticket_finish


def visitor(*, workforce: Workforce, arrival: Arrival) -> UUID:
    """Return who an arrival is, known from now on."""
    return external_surrogate(source=workforce.source, name=arrival.worker)


@durable
def visitor_withdraw(*, workforce: Workforce, surrogate_id: UUID, now: datetime) -> int:
    """Withdraw a person from the campaign they came to; no ticket leads to their work any more."""
    participation_lock(campaign_id=workforce.campaign_id, surrogate_id=surrogate_id)
    TicketWork.objects.filter(ticket__workforce=workforce, ticket__surrogate_id=surrogate_id).delete()
    # The exact moment of an answer would lead from the ticket to the annotation.
    own = Ticket.objects.filter(workforce=workforce, surrogate_id=surrogate_id)
    own.update(answered_at=TruncDay("answered_at"))
    own.filter(posting=None).update(submitted_at=TruncDay("submitted_at"))
    return participation_withdraw(campaign=workforce.campaign, surrogate_id=surrogate_id, now=now)


@durable
def visitor_learn(*, ticket: Ticket, number: int, sent: str, now: datetime) -> Lesson | None:
    """Take an answer to an example of the training round; the ticket that it ends with is paid for the round."""
    lesson = lesson_answer(
        campaign=ticket.workforce.campaign, surrogate_id=ticket.surrogate_id, number=number, sent=sent, now=now
    )
    if lesson is not None and lesson.finishes:
        Ticket.objects.filter(pk=ticket.pk).update(trained=True)
    return lesson


def visit_skip(*, ticket: Ticket, assignment_id: UUID, reason: str, now: datetime) -> Claim:
    """Give an item back with a reason; it never counts against anybody."""
    return assignment_skip(
        assignment_id=assignment_id, surrogate_id=ticket.surrogate_id, reason=reason, note="", now=now
    )


@durable
def visit_end(*, ticket: Ticket, now: datetime) -> bool:
    """Make a ticket ready to be handed in, if anything was done with it; return whether it is."""
    if ticket.work.exists():
        return ticket_finish(ticket=ticket, outcome=Outcome.COMPLETED, now=now) or _is_finished(ticket)
    if ticket.trained or is_owed(ticket):  # training is work too
        return ticket_finish(ticket=ticket, outcome=Outcome.NOTHING_LEFT, now=now) or _is_finished(ticket)
    return False


def _is_finished(ticket: Ticket) -> bool:
    return Ticket.objects.filter(pk=ticket.pk).exclude(state__in=[TicketState.OPEN, TicketState.LAPSED]).exists()


def link_key(workforce: Workforce) -> str:
    """Return the signed part of the address that people of a panel come by."""
    return signing.Signer(salt="quorate.link").sign(str(workforce.pk)).replace(":", "~")
