"""Refusing pay, and reversing a refusal: always a manager's decision, with a reason that the worker reads."""

from datetime import datetime
from uuid import UUID

from accounts.audit import record
from annotation.models import Campaign
from database.transactions import durable, require_transaction
from workforces.kinds.registry import KINDS
from workforces.models import (
    Appeal,
    AppealState,
    Errand,
    ErrandKind,
    ErrandState,
    PayRefusal,
    Ticket,
    TicketState,
)
from workforces.services.outbox import payments_of_appeal
from workforces.services.pay import PayError, ticket_lock


def tickets_refuse(
    *,
    campaign: Campaign,
    surrogate_id: UUID,
    reason: str,
    actor_id: UUID,
    due_at: datetime,
    now: datetime,
    mark: str = "",
) -> int:
    """Refuse pay for a person's submitted and unpaid work; return the number of tickets.

    Work in progress waits for a manager after its submission; work that a manager accepted before isn't refused.
    Submitted work that isn't listed yet is refused when it is listed (`refusal_carry_out`). Refusals with the same mark
    can be reversed together (`refusals_take_back`).

    Raises
    ------
    PayError
        The reason is missing.
    """
    require_transaction()
    if not reason.strip():
        raise PayError("reason_is_read")
    said = {"at": now, "reason": reason[:1000], "mark": mark, "decided_by_id": actor_id}
    PayRefusal.objects.get_or_create(campaign=campaign, surrogate_id=surrogate_id, defaults=said)
    own = Ticket.objects.filter(workforce__campaign=campaign, surrogate_id=surrogate_id, state=TicketState.SUBMITTED)
    refused = 0
    for pk, kind in own.order_by("pk").values_list("pk", "workforce__kind"):
        refused += KINDS[kind].refuse_pay(
            ticket_id=pk, reason=reason, actor_id=actor_id, due_at=due_at, now=now, mark=mark
        )
    record(
        action="tickets_refuse",
        subject=f"surrogate:{surrogate_id}",
        now=now,
        actor_id=actor_id,
        scope_id=campaign.pk,
        reason=reason[:300],
        tickets=refused,
    )
    return refused


@durable
def ticket_refuse(*, ticket: Ticket, reason: str, actor_id: UUID, due_at: datetime, now: datetime) -> bool:
    """Refuse pay for one ticket (for example, work that can't be matched), with a reason.

    Raises
    ------
    PayError
        The reason is missing.
    """
    if not reason.strip():
        raise PayError("reason_is_read")
    refused = KINDS[ticket.workforce.kind].refuse_doubtful(
        ticket=ticket, reason=reason, actor_id=actor_id, due_at=due_at, now=now
    )
    if refused:
        record(
            action="ticket_refuse",
            subject=ticket,
            now=now,
            actor_id=actor_id,
            scope_id=ticket.workforce.campaign_id,
            reason=reason[:300],
        )
    return refused


def refusal_take_back(*, ticket: Ticket, reason: str, actor_id: UUID, now: datetime) -> Errand | None:
    """Reverse a refusal and pay; return the errand for it, if one has to be sent."""
    require_transaction()
    found: Errand | None = KINDS[ticket.workforce.kind].pay_refused(
        ticket=ticket, reason=reason, actor_id=actor_id, now=now
    )
    return found


def refusals_take_back(*, campaign: Campaign, mark: str, reason: str, actor_id: UUID, now: datetime) -> int:
    """Reverse the refusals with a mark, whose reason no longer holds; return the number of added payments.

    Refusals that weren't sent yet are not sent; the others are paid once, and an appeal about them is granted.
    """
    require_transaction()
    refusals = Errand.objects.filter(workforce__campaign=campaign, kind=ErrandKind.REJECT, token__endswith=mark)
    taken = 0
    for errand in refusals.exclude(state=ErrandState.UNDONE).order_by("ticket", "pk"):
        assert errand.ticket_id is not None
        ticket = ticket_lock(errand.ticket_id)
        idle = Errand.objects.filter(pk=errand.pk, state__in=[ErrandState.DUE, ErrandState.FAILED])
        was_idle = bool(idle.update(state=ErrandState.UNDONE))
        if ticket.state == TicketState.APPROVED or (was_idle and ticket.state != TicketState.REFUSED):
            continue
        if not payments_of_appeal(ticket.pk).exclude(state=ErrandState.UNDONE).exists():
            refusal_take_back(ticket=ticket, reason=reason, actor_id=actor_id, now=now)
            taken += 1
        Appeal.objects.filter(ticket=ticket).exclude(state=AppealState.GRANTED).update(
            state=AppealState.GRANTED, answer=reason[:2000], decided_by_id=actor_id, decided_at=now
        )
    record(
        action="refusals_take_back",
        subject=campaign,
        now=now,
        actor_id=actor_id,
        scope_id=campaign.pk,
        refusals=taken,
        mark=mark,
    )
    return taken


def work_pass(*, campaign: Campaign, surrogate_id: UUID, now: datetime) -> None:
    """Settle the pay of a person's confirmed work: a manager decided so, or nobody decided in time."""
    require_transaction()
    for key, kind in KINDS.items():
        own = Ticket.objects.filter(workforce__campaign=campaign, workforce__kind=key, surrogate_id=surrogate_id)
        kind.let_pass(tickets=own, now=now)
