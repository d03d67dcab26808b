"""Refusing the pay of a panel's visits: the panel pays its people by our list."""

from datetime import datetime
from uuid import UUID

from annotation.models import Annotation
from annotation.slots.services.counting import submissions_give_up
from database.transactions import require_transaction
from workforces.models import (
    Errand,
    ErrandKind,
    ErrandState,
    PayRefusal,
    Ticket,
    TicketState,
)
from workforces.services.identities import ticket_people_lock
from workforces.services.outbox import errand_add
from workforces.services.pay import attempts_of, ticket_lock


def visit_pay_refuse(pk: int, reason: str, actor_id: UUID, now: datetime, mark: str) -> bool:
    """Refuse the pay of a confirmed visit: the panel pays its people itself, by our list.

    If an earlier refusal was reversed, the visit stays paid, because a person can appeal only once. A visit whose pay
    was settled by a decision stays paid, too.
    """
    ticket = ticket_lock(pk)
    if ticket.decided_at is not None or ticket.errands.filter(kind=ErrandKind.REJECT).exists():
        return False
    refused = Ticket.objects.filter(pk=pk, state=TicketState.SUBMITTED).update(
        state=TicketState.REFUSED, decided_at=now
    )
    if refused:
        errand_add(
            workforce=ticket.workforce,
            kind=ErrandKind.REJECT,
            ticket=ticket,
            surrogate_id=ticket.surrogate_id,
            text=reason[:1000],
            due_at=now,
            token=f"reject-{pk}-{attempts_of(ticket)}{mark}",
            decided_by_id=actor_id,
            state=ErrandState.CONFIRMED,
            confirmed_at=now,
        )
    return bool(refused)


def refusal_carry_out(*, ticket: Ticket, refusal: PayRefusal, now: datetime) -> bool:
    """Refuse the pay of a newly confirmed visit if its work was done before its visitor's pay was refused."""
    require_transaction()
    done_at = Ticket.objects.values_list("answered_at", flat=True).get(pk=ticket.pk)
    if done_at is None or done_at > refusal.at or refusal.decided_by_id is None:
        return False
    return visit_pay_refuse(ticket.pk, refusal.reason, refusal.decided_by_id, now, refusal.mark)


def visit_pay(ticket: Ticket) -> None:
    """Mark a visit as to be paid on the panel's list again."""
    Errand.objects.filter(ticket=ticket, kind=ErrandKind.REJECT).update(state=ErrandState.UNDONE)
    Ticket.objects.filter(pk=ticket.pk, state=TicketState.REFUSED).update(state=TicketState.SUBMITTED, decided_at=None)


def visit_refuse(ticket: Ticket, now: datetime) -> bool:
    """Exclude a doubtful visit of a panel. The panel pays its people itself, so nobody is notified."""
    ticket_people_lock(ticket)
    doubtful = Ticket.objects.filter(pk=ticket.pk, state=TicketState.UNMATCHED)
    if not doubtful.update(state=TicketState.REFUSED, decided_at=now):
        return False
    work = Annotation.objects.filter(ticket_work__ticket=ticket).order_by("pk")
    submissions_give_up(annotations=work, because="refused", now=now)
    return True
