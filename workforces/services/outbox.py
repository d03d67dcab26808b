"""The outbox of the marketplace: errands are first stored as rows. `workforces.services.sending` sends them."""

import secrets
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError
from django.db.models import Q, QuerySet

from accounts.audit import record
from database.statements import Insert
from database.transactions import durable, require_transaction
from workforces.models import (
    Appeal,
    AppealState,
    Errand,
    ErrandKind,
    ErrandState,
    PostingState,
    Ticket,
    TicketState,
    Workforce,
)

OVERRIDE = "override"  # the text of an approval that takes a refusal back
PAY_DECISIONS = (ErrandKind.APPROVE, ErrandKind.REJECT)
LIVE = (ErrandState.DUE, ErrandState.SENDING, ErrandState.CONFIRMED)  # it is done, or will be


def errand_add(
    *, workforce: Workforce, kind: str, due_at: datetime, surrogate_id: UUID | None = None, token: str = "", **what: Any
) -> Errand:
    """Store an errand, once; if the token exists already, return its errand.

    Raises
    ------
    IntegrityError
        Another decision about the pay of the same ticket is stored, under another token.
    """
    require_transaction()
    errand = Errand(
        token=token or f"{kind}-{secrets.token_hex(16)}",
        workforce=workforce,
        kind=kind,
        due_at=due_at,
        surrogate_id=surrogate_id,
        **what,
    )
    if _ADD.run(errand):
        return errand
    stored = Errand.objects.filter(token=errand.token).first()
    if stored is None:
        raise IntegrityError(f"errand {errand.token} contradicts a stored one")
    return stored


_ADD = Insert(Errand, once=True)


@durable
def errand_undo(*, errand: Errand, actor_id: UUID, now: datetime) -> bool:
    """Undo a decision that hasn't been sent, or give up a failed errand; return whether that was still possible.

    If the errand granted an appeal, the appeal awaits a decision again.
    """
    idle = Errand.objects.filter(pk=errand.pk, state__in=[ErrandState.DUE, ErrandState.FAILED])
    undone = idle.update(state=ErrandState.UNDONE)
    if undone:
        _appeal_reopen(errand)
        record(
            action="errand_undo",
            subject=errand,
            now=now,
            actor_id=actor_id,
            scope_id=errand.workforce.campaign_id,
            kind=errand.kind,
        )
    return bool(undone)


def _appeal_reopen(errand: Errand) -> None:
    """Reopen an appeal, if this errand was its only payment."""
    if errand.ticket_id is None or not payments_of_appeal(errand.ticket_id).filter(pk=errand.pk).exists():
        return
    refused = Ticket.objects.select_for_update(no_key=True).filter(pk=errand.ticket_id, state=TicketState.REFUSED)
    if refused.first() and not payments_of_appeal(errand.ticket_id).exclude(state=ErrandState.UNDONE).exists():
        Appeal.objects.filter(ticket=errand.ticket_id, state=AppealState.GRANTED).update(
            state=AppealState.OPEN, answer="", decided_by=None, decided_at=None
        )


def appeal_token(ticket_id: int) -> str:
    """Return the token of the bonus that compensates for a refusal that can no longer be reversed."""
    return f"appeal-{ticket_id}"


def payments_of_appeal(ticket_id: int) -> QuerySet[Errand]:
    """Return the errands that pay a granted appeal: an approval that overrides the refusal, or a bonus."""
    by_override = Q(kind=ErrandKind.APPROVE, text=OVERRIDE)
    return Errand.objects.filter(by_override | Q(token=appeal_token(ticket_id)), ticket_id=ticket_id)


@durable
def errand_retry(*, errand: Errand, actor_id: UUID, now: datetime) -> bool:
    """Retry a failed errand, after a manager checked it; if it may have succeeded, the state is read back first.

    The errand isn't retried if its ticket's pay has been decided differently since. A posting that was given up isn't
    sent anymore: the wanted assignments are posted again, within the cap.
    """
    if _is_of_settled_posting(errand):
        return errand_undo(errand=errand, actor_id=actor_id, now=now)
    if _is_decided_otherwise(errand):
        return False
    again = Errand.objects.filter(pk=errand.pk, state=ErrandState.FAILED).update(
        state=ErrandState.SENDING, due_at=now, error=""
    )
    if again:
        record(
            action="errand_retry",
            subject=errand,
            now=now,
            actor_id=actor_id,
            scope_id=errand.workforce.campaign_id,
            kind=errand.kind,
        )
    return bool(again)


def _is_of_settled_posting(errand: Errand) -> bool:
    posting = errand.posting
    return errand.kind == ErrandKind.PUBLISH and posting is not None and posting.state == PostingState.SETTLED


def _is_decided_otherwise(errand: Errand) -> bool:
    """Return whether something other than this errand settles the pay of its ticket; locks the ticket."""
    if errand.ticket_id is None:
        return False
    ticket = Ticket.objects.select_for_update(no_key=True).get(pk=errand.ticket_id)
    others = Errand.objects.filter(ticket=ticket).exclude(pk=errand.pk)
    if errand.token == appeal_token(ticket.pk):
        payments = payments_of_appeal(ticket.pk).exclude(pk=errand.pk).filter(state__in=LIVE)
        return ticket.state == TicketState.APPROVED or payments.exists()
    if errand.kind not in PAY_DECISIONS:
        return False
    decisions = others.filter(kind__in=PAY_DECISIONS, state__in=LIVE)
    if errand.text == OVERRIDE:  # takes a refusal back, which is no decision against it
        decisions = decisions.exclude(kind=ErrandKind.REJECT)
    made_good = others.filter(token=appeal_token(ticket.pk)).exclude(state=ErrandState.UNDONE)
    return decisions.exists() or (errand.kind == ErrandKind.APPROVE and made_good.exists())
