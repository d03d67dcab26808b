"""Errands for refusing pay at the marketplace, and for reversing a refusal."""

from datetime import datetime, timedelta
from uuid import UUID

from database.transactions import require_transaction
from workforces.models import (
    Errand,
    ErrandKind,
    ErrandState,
    Ticket,
    TicketState,
)
from workforces.services.outbox import LIVE, OVERRIDE, appeal_token, errand_add
from workforces.services.pay import MARGIN, attempts_of, pay_errands, ticket_lock
from workforces.services.terms import ticket_terms

OVERRIDE_DAYS = 30


def refuse(pk: int, reason: str, actor_id: UUID, due_at: datetime, mark: str = "") -> bool:
    """Add an errand to reject an assignment, unless it is paid, accepted or decided.

    Return whether the errand was added.
    """
    ticket = ticket_lock(pk)
    if ticket.state not in (TicketState.SUBMITTED, TicketState.UNMATCHED):
        return False
    if ticket.state == TicketState.SUBMITTED and ticket.decided_at is not None:  # a manager accepted it
        return False
    unsent = pay_errands(ticket, ErrandState.DUE).filter(kind=ErrandKind.APPROVE)
    if pay_errands(ticket, *LIVE).exclude(pk__in=unsent.values("pk")).exists():
        return False
    unsent.update(state=ErrandState.UNDONE)
    errand_add(
        workforce=ticket.workforce,
        kind=ErrandKind.REJECT,
        ticket=ticket,
        surrogate_id=ticket.surrogate_id,
        text=reason[:1000],
        due_at=due_at,
        token=f"reject-{ticket.pk}-{attempts_of(ticket)}{mark}",
        decided_by_id=actor_id,
    )
    return True


def refusal_make_good(*, ticket: Ticket, reason: str, actor_id: UUID | None, now: datetime) -> Errand:
    """Pay a refused amount as a bonus, once.

    A bonus that was undone is sent after all; if an earlier attempt succeeded, the errand detects that first.
    """
    require_transaction()
    errand = errand_add(
        workforce=ticket.workforce,
        kind=ErrandKind.BONUS,
        ticket=ticket,
        surrogate_id=ticket.surrogate_id,
        due_at=now,
        cents=ticket_terms(ticket).reward_cents,
        text=(reason.strip() or "Paid after an appeal")[:900],
        token=appeal_token(ticket.pk),
        decided_by_id=actor_id,
    )
    Errand.objects.filter(pk=errand.pk, state=ErrandState.UNDONE).update(
        state=ErrandState.SENDING, due_at=now, error=""
    )
    return errand


def refusal_override(*, ticket: Ticket, reason: str, actor_id: UUID, now: datetime) -> Errand:
    """Reverse a refusal of pay: override it, or pay a bonus if the marketplace no longer allows that."""
    require_transaction()
    assert ticket.submitted_at is not None
    if now - ticket.submitted_at >= timedelta(days=OVERRIDE_DAYS) - MARGIN:
        return refusal_make_good(ticket=ticket, reason=reason, actor_id=actor_id, now=now)
    return errand_add(
        workforce=ticket.workforce,
        kind=ErrandKind.APPROVE,
        ticket=ticket,
        surrogate_id=ticket.surrogate_id,
        due_at=now,
        cents=ticket_terms(ticket).reward_cents,
        decided_by_id=actor_id,
        token=f"approve-{ticket.pk}-{attempts_of(ticket)}",
        text=OVERRIDE,
    )
