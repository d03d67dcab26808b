"""What people from a marketplace or a panel do besides answering."""

from datetime import datetime
from uuid import UUID

from django.core import signing
from django.db import transaction

from accounts.services import external_surrogate
from annotation.models import Ticket, TicketState, Workforce
from annotation.services.claims import Claim
from annotation.services.tickets import is_owed, ticket_finish
from annotation.services.work import assignment_skip
from annotation.workforces.base import Arrival, Outcome


def visitor(*, workforce: Workforce, arrival: Arrival) -> UUID:
    """Return who an arrival is, known from now on."""
    return external_surrogate(source=workforce.source, name=arrival.worker)


def visit_skip(*, ticket: Ticket, assignment_id: UUID, reason: str, now: datetime) -> Claim:
    """Give an item back with a reason; it never counts against anybody."""
    return assignment_skip(
        assignment_id=assignment_id, surrogate_id=ticket.surrogate_id, reason=reason, note="", now=now
    )


def visit_end(*, ticket: Ticket, now: datetime) -> bool:
    """Make a ticket ready to be handed in, if anything was done with it; return whether it is."""
    with transaction.atomic():
        if ticket.annotations.exists():
            return ticket_finish(ticket=ticket, outcome=Outcome.COMPLETED, now=now) or _is_finished(ticket)
        if ticket.trained or is_owed(ticket):  # training is work too
            return ticket_finish(ticket=ticket, outcome=Outcome.NOTHING_LEFT, now=now) or _is_finished(ticket)
    return False


def _is_finished(ticket: Ticket) -> bool:
    return Ticket.objects.filter(pk=ticket.pk).exclude(state__in=[TicketState.OPEN, TicketState.LAPSED]).exists()


def link_key(workforce: Workforce) -> str:
    """Return the signed part of the address that people of a panel come by."""
    return signing.Signer(salt="quorate.link").sign(str(workforce.pk)).replace(":", "~")
