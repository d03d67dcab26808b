"""Confirmations: finished work listed by the other side, matched with our tickets.

A marketplace lists assignments with their answers, a panel lists its people and their visits.
"""

from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from accounts.audit import record
from annotation.slots.services.counting import submissions_confirm, submissions_give_up
from database.transactions import durable
from workforces.kinds.registry import KINDS
from workforces.models import ErrandKind, ErrandState, Ticket, TicketState
from workforces.services.identities import claimed_name, is_person_known, ticket_identify, ticket_people_lock
from workforces.services.outbox import errand_add
from workforces.services.pay import (
    REFUSED_BEFORE,
    TRAINING,
    PayError,
    is_pay_refused,
    is_refusal_under_way,
    pay_errands,
    ticket_lock,
)
from workforces.services.terms import ticket_terms
from workforces.services.tickets import ticket_annotations


def unconfirmed(ticket_pk: int) -> QuerySet[Ticket]:
    """Return the row of a ticket if the other side hasn't confirmed it yet."""
    return Ticket.objects.filter(pk=ticket_pk, state__in=[TicketState.OPEN, TicketState.ANSWERED, TicketState.LAPSED])


def refused_before(ticket: Ticket, person: UUID) -> str:
    """Send a newly confirmed ticket to a manager if its person's pay was refused; return the reason or nothing."""
    is_refused = is_pay_refused(campaign_id=ticket.workforce.campaign_id, surrogate_id=person)
    kind = KINDS[ticket.workforce.kind]
    if not is_refused and not kind.has_refused(workforce=ticket.workforce, surrogate_id=person):
        return ""
    Ticket.objects.filter(pk=ticket.pk).update(state=TicketState.UNMATCHED, problem=REFUSED_BEFORE)
    return REFUSED_BEFORE


def work_count(ticket: Ticket, person: UUID, now: datetime) -> None:
    """Count the answers of a ticket, and pay for the training round, once per person.

    If the person was erased meanwhile, nothing is counted, because their other annotations are unknown.
    """
    if not is_person_known(person):
        submissions_give_up(annotations=ticket_annotations(ticket), because="the person was erased", now=now)
        return
    # What the person had annotated before in another visit stayed with this visit's surrogate: it does not count.
    work = [row for row in ticket_annotations(ticket) if row.surrogate_id == person]
    submissions_confirm(annotations=work, now=now)
    cents = ticket_terms(ticket).training_bonus_cents
    own = Ticket.objects.filter(workforce=ticket.workforce, surrogate_id=ticket.surrogate_id)
    if cents and own.filter(trained=True).exists():
        errand_add(
            workforce=ticket.workforce,
            kind=ErrandKind.BONUS,
            ticket=ticket,
            surrogate_id=ticket.surrogate_id,
            cents=cents,
            text="For the training round before the first task",
            due_at=now,
            token=f"{TRAINING}{ticket.workforce_id}-{ticket.surrogate_id}",
        )


@durable
def ticket_accept(*, ticket: Ticket, actor_id: UUID, now: datetime) -> bool:
    """Let a manager accept a ticket that couldn't be matched: it counts, and is paid unless it was paid before.

    Raises
    ------
    PayError
        Its pay was refused, and nobody reversed that.
    """
    name = claimed_name(ticket)
    ticket_people_lock(ticket, name=name)
    ticket_lock(ticket.pk)
    if is_refusal_under_way(ticket):
        raise PayError("refused_just_now")
    unmatched = Ticket.objects.filter(pk=ticket.pk).exclude(problem="")
    # That it was decided says that no later refusal takes it back.
    accepted = {"state": TicketState.SUBMITTED, "problem": "", "decided_at": now}
    moved = unmatched.filter(state=TicketState.UNMATCHED).update(**accepted)
    moved = moved or unmatched.filter(state=TicketState.APPROVED).update(problem="")
    if moved:
        pay_errands(ticket, ErrandState.FAILED).filter(kind=ErrandKind.REJECT).update(state=ErrandState.UNDONE)
        work_count(ticket, ticket_identify(ticket=ticket, name=name, now=now), now)
        record(
            action="ticket_accept",
            subject=ticket,
            now=now,
            actor_id=actor_id,
            scope_id=ticket.workforce.campaign_id,
        )
    return bool(moved)
