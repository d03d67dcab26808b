"""What people are owed: approvals by the clock, refusals by a person, bonuses; and what was paid.

Every confirmed payment is a ledger entry, written in the transaction that learns of it.
"""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Sum

from accounts.audit import record
from accounts.transactions import require_transaction
from annotation.models import (
    Campaign,
    Errand,
    ErrandKind,
    ErrandState,
    LedgerEntry,
    Participation,
    PostingState,
    Standing,
    Ticket,
    TicketState,
    Workforce,
)
from annotation.services.errands_queue import errand_add
from annotation.services.marketplace import terms_of
from annotation.workforces.money import fee_cents

MARGIN = timedelta(hours=1)  # nothing waits longer than this before the marketplace decides by itself
OVERRIDE_DAYS = 30


class PayError(ValueError):
    """Pay cannot be changed as asked."""


def approvals_due(*, workforce: Workforce, now: datetime, limit: int = 200) -> int:
    """Make due the approval of work whose time has come; that of people who are paused waits for a manager, not for ever."""
    terms = terms_of(workforce)
    paused = set(
        Participation.objects.filter(campaign=workforce.campaign, standing=Standing.PAUSED).values_list(
            "surrogate_id", flat=True
        )
    )
    waiting = (
        Ticket.objects.filter(
            workforce=workforce, state=TicketState.SUBMITTED,
            submitted_at__lte=now - timedelta(seconds=terms.approve_after_seconds),
        )
        .exclude(
            errands__kind__in=[ErrandKind.APPROVE, ErrandKind.REJECT],
            errands__state__in=[ErrandState.DUE, ErrandState.SENDING, ErrandState.CONFIRMED, ErrandState.FAILED],
        )
        .order_by("submitted_at", "pk")
    )  # fmt: skip
    made = 0
    for ticket in waiting[:limit]:
        if ticket.surrogate_id in paused and now < _held_until(ticket, terms.hold_seconds):
            continue
        with transaction.atomic():
            errand_add(
                workforce=workforce, kind=ErrandKind.APPROVE, ticket=ticket, surrogate_id=ticket.surrogate_id,
                cents=terms.reward_cents, due_at=now, token=f"approve-{ticket.pk}-{_attempt(ticket)}",
            )  # fmt: skip
        made += 1
    return made


def _attempt(ticket: Ticket) -> int:
    return ticket.errands.filter(kind__in=[ErrandKind.APPROVE, ErrandKind.REJECT]).count()


def _held_until(ticket: Ticket, hold_seconds: int) -> datetime:
    assert ticket.submitted_at is not None
    until = ticket.submitted_at + timedelta(seconds=hold_seconds)
    return min(until, ticket.auto_approval_at - MARGIN) if ticket.auto_approval_at else until


def tickets_refuse(
    *, campaign: Campaign, surrogate_id: UUID, reason: str, actor_id: UUID, due_at: datetime, now: datetime
) -> int:
    """Refuse pay for what somebody submitted and is not paid yet; return for how many tickets.

    Raises
    ------
    PayError
        No reason was given.
    """
    require_transaction()
    if not reason.strip():
        raise PayError("give the reason: the person will read it")
    refused = 0
    tickets = Ticket.objects.filter(
        workforce__campaign=campaign, workforce__kind="mturk", surrogate_id=surrogate_id, state=TicketState.SUBMITTED
    ).select_related("workforce")  # fmt: skip
    for ticket in tickets.order_by("pk"):
        waiting = ticket.errands.filter(kind=ErrandKind.APPROVE, state=ErrandState.DUE)
        waiting.update(state=ErrandState.UNDONE)
        if ticket.errands.filter(
            kind__in=[ErrandKind.APPROVE, ErrandKind.REJECT], state__in=[ErrandState.SENDING, ErrandState.CONFIRMED]
        ).exists():
            continue
        errand_add(
            workforce=ticket.workforce, kind=ErrandKind.REJECT, ticket=ticket, surrogate_id=surrogate_id,
            text=reason[:1000], due_at=due_at, token=f"reject-{ticket.pk}-{_attempt(ticket)}", decided_by_id=actor_id,
        )  # fmt: skip
        refused += 1
    record(
        action="tickets_refuse", subject=f"surrogate:{surrogate_id}", now=now, actor_id=actor_id, scope_id=campaign.pk,
        reason=reason[:300], tickets=refused,
    )  # fmt: skip
    return refused


def refusal_take_back(*, ticket: Ticket, reason: str, actor_id: UUID, now: datetime) -> Errand:
    """Pay what was refused: by overriding the refusal, or as a bonus when the marketplace no longer lets us."""
    require_transaction()
    assert ticket.submitted_at is not None
    terms = terms_of(ticket.workforce)
    common = {
        "workforce": ticket.workforce, "ticket": ticket, "surrogate_id": ticket.surrogate_id, "due_at": now,
        "cents": terms.reward_cents, "decided_by_id": actor_id,
    }  # fmt: skip
    if now - ticket.submitted_at < timedelta(days=OVERRIDE_DAYS) - MARGIN:
        return errand_add(
            kind=ErrandKind.APPROVE, token=f"approve-{ticket.pk}-{_attempt(ticket)}", text="override", **common
        )
    text = reason.strip() or "Paid after an appeal"
    return errand_add(kind=ErrandKind.BONUS, token=f"appeal-{ticket.pk}", text=text[:900], **common)


def bonus_grant(
    *, ticket: Ticket, cents: int, reason: str, actor_id: UUID | None, now: datetime, undo_seconds: int = 0
) -> Errand:
    """Grant a bonus for a ticket that was submitted.

    Raises
    ------
    PayError
        The amount or the reason is missing, or the ticket was never submitted.
    """
    if cents < 1 or not reason.strip():
        raise PayError("a bonus needs an amount and a reason")
    if ticket.state not in (TicketState.SUBMITTED, TicketState.APPROVED, TicketState.REFUSED):
        raise PayError("a bonus goes with work that was submitted")
    with transaction.atomic():
        errand = errand_add(
            workforce=ticket.workforce, kind=ErrandKind.BONUS, ticket=ticket, surrogate_id=ticket.surrogate_id,
            cents=cents, text=reason[:900], due_at=now + timedelta(seconds=undo_seconds), decided_by_id=actor_id,
        )  # fmt: skip
        record(
            action="bonus_grant", subject=errand, now=now, actor_id=actor_id,
            scope_id=ticket.workforce.campaign_id, cents=cents, reason=reason[:300],
        )  # fmt: skip
    return errand


def ticket_paid(*, ticket: Ticket, errand: Errand | None, now: datetime) -> bool:
    """Write down that a ticket was approved, by us or by the marketplace's clock; return whether that was new."""
    require_transaction()
    terms = terms_of(ticket.workforce)
    moved = Ticket.objects.filter(pk=ticket.pk).exclude(state=TicketState.APPROVED).update(
        state=TicketState.APPROVED, decided_at=now
    )  # fmt: skip
    if moved:
        _enter(ticket, errand, "reward", terms.reward_cents, now)
    return bool(moved)


def bonus_paid(*, errand: Errand, now: datetime) -> None:
    """Write down that a bonus was paid."""
    require_transaction()
    assert errand.ticket is not None
    if not LedgerEntry.objects.filter(errand=errand, kind="bonus").exists():
        _enter(errand.ticket, errand, "bonus", errand.cents, now)


def _enter(ticket: Ticket, errand: Errand | None, kind: str, cents: int, now: datetime) -> None:
    terms = terms_of(ticket.workforce)
    LedgerEntry.objects.create(
        campaign_id=ticket.workforce.campaign_id, workforce=ticket.workforce, ticket=ticket, errand=errand,
        surrogate_id=ticket.surrogate_id, kind=kind, cents=cents, at=now,
        fee_cents=fee_cents(cents, has_fees=getattr(terms, "has_fees", False)),
    )  # fmt: skip


def committed_cents(workforce: Workforce) -> int:
    """Return what was paid plus what may still have to be: places that are open, work that waits, bonuses due."""
    terms = terms_of(workforce)
    has_fees = getattr(terms, "has_fees", False)
    live = workforce.postings.filter(state__in=[PostingState.WANTED, PostingState.OPEN, PostingState.ENDING])
    tickets = Ticket.objects.filter(workforce=workforce)
    decided = tickets.filter(posting__in=live, state__in=[TicketState.APPROVED, TicketState.REFUSED]).count()
    waiting = [TicketState.OPEN, TicketState.ANSWERED, TicketState.SUBMITTED, TicketState.UNMATCHED]
    ended = tickets.filter(posting__state=PostingState.ENDED, state__in=waiting).count()
    bonuses = Errand.objects.filter(
        workforce=workforce, kind=ErrandKind.BONUS, state__in=[ErrandState.DUE, ErrandState.SENDING]
    )
    owed: list[int] = [terms.reward_cents] * (_sum(live, "places") - decided + ended) + list(
        bonuses.values_list("cents", flat=True)
    )
    paid = LedgerEntry.objects.filter(workforce=workforce)
    owed_with_fees = sum(cents + fee_cents(cents, has_fees=has_fees) for cents in owed)
    return _sum(paid, "cents") + _sum(paid, "fee_cents") + owed_with_fees


def _sum(rows: Any, field: str) -> int:
    return int(rows.aggregate(total=Sum(field))["total"] or 0)
