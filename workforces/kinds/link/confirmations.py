"""Confirmation of visits that a panel lists, and visits with the same ids."""

from datetime import datetime

from django.db.models import Exists, OuterRef
from django.utils.translation import gettext_noop

from annotation.slots.services.counting import submissions_give_up
from database.transactions import durable
from workforces.kinds.link.pay import refusal_carry_out
from workforces.models import PayRefusal, Ticket, TicketState, TicketWork
from workforces.services.confirmations import refused_before, unconfirmed, work_count
from workforces.services.identities import ticket_identify, ticket_people_lock
from workforces.services.tickets import ticket_annotations


@durable
def visit_confirm(*, ticket: Ticket, name: str, now: datetime) -> bool:
    """Count the work of a visit that the panel lists; return whether it wasn't confirmed before.

    A visit that is still in progress isn't confirmed yet, because its visitor's next submission would be lost.

    If its own pay was refused before anyone listed it, the refusal is carried out now. If the pay of other visits of
    its person is refused, a manager decides about this one, too.
    """
    ticket_people_lock(ticket, name=name)
    has_work = Exists(TicketWork.objects.filter(ticket=OuterRef("pk")))
    if (
        not unconfirmed(ticket.pk)
        .exclude(state=TicketState.OPEN)
        .filter(has_work)
        .update(state=TicketState.SUBMITTED, submitted_at=now)
    ):
        return False
    refusal = PayRefusal.objects.filter(campaign=ticket.workforce.campaign_id, surrogate_id=ticket.surrogate_id).first()
    person = ticket_identify(ticket=ticket, name=name, now=now)
    if refusal is not None and refusal_carry_out(ticket=ticket, refusal=refusal, now=now):
        work_count(ticket, person, now)
    elif problem := refused_before(ticket, person):
        submissions_give_up(annotations=ticket_annotations(ticket), because=problem, now=now)
    else:
        work_count(ticket, person, now)
    return True


@durable
def visit_doubt(*, ticket: Ticket, now: datetime) -> bool:
    """Send a visit to a manager because another visit has the same ids; return whether that is new."""
    ticket_people_lock(ticket)
    problem = gettext_noop("Several visits came with the same IDs")
    if not unconfirmed(ticket.pk).update(state=TicketState.UNMATCHED, submitted_at=now, problem=problem):
        return False
    submissions_give_up(annotations=ticket_annotations(ticket), because=problem, now=now)
    return True
