"""Pay: automatic approvals after a time, refusals by managers, bonuses, and past payments.

Every confirmed payment is a ledger entry, written in the transaction in which we learn of it.
"""

from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.utils.translation import gettext_noop

from accounts.audit import record
from annotation.models import Campaign
from database.statements import Insert, Statement, Update
from database.transactions import durable, require_transaction
from web.errors import KeyedError
from web.metrics import PAID_CENTS
from workforces.kinds.registry import KINDS
from workforces.models import (
    Errand,
    ErrandKind,
    ErrandState,
    LedgerEntry,
    PayHold,
    PayRefusal,
    PostingState,
    Ticket,
    TicketState,
    Workforce,
)
from workforces.money import fee_cents
from workforces.services.outbox import LIVE, PAY_DECISIONS, errand_add
from workforces.services.terms import posting_terms, terms_of, ticket_terms

MARGIN = timedelta(hours=1)  # nothing waits longer than this before the marketplace decides by itself
TRAINING = "training-"  # how the tokens of training bonuses begin


class PayError(KeyedError):
    """Pay can't be changed as requested."""


def pay_hold(*, campaign: Campaign, surrogate_id: UUID, until: datetime) -> None:
    """Hold a person's pay while a manager decides about them, at most until a given time."""
    require_transaction()
    PayHold.objects.update_or_create(campaign=campaign, surrogate_id=surrogate_id, defaults={"until": until})


def pay_release(*, campaign: Campaign, surrogate_id: UUID) -> None:
    """End the hold on a person's pay."""
    require_transaction()
    PayHold.objects.filter(campaign=campaign, surrogate_id=surrogate_id).delete()


REFUSED_BEFORE = gettext_noop(
    "Pay for other work of this annotator was refused"
)  # so a manager decides about later work


def is_pay_refused(*, campaign_id: UUID, surrogate_id: UUID) -> bool:
    """Return whether a person's pay was refused, so that their submissions wait for a manager."""
    return bool(_PAY_REFUSAL.rows(campaign_id, surrogate_id))


_PAY_REFUSAL = Statement(
    lambda campaign_id, surrogate_id: PayRefusal.objects.filter(
        campaign_id=campaign_id, surrogate_id=surrogate_id
    ).values_list("pk"),
    UUID,
    UUID,
)


def pay_refusal_end(*, campaign: Campaign, surrogate_id: UUID) -> None:
    """End the refusal of a person's pay; submissions that already wait for a manager still do."""
    require_transaction()
    PayRefusal.objects.filter(campaign=campaign, surrogate_id=surrogate_id).delete()


def pay_refusal_move(*, campaign: Campaign, before: UUID, after: UUID) -> None:
    """Transfer a visit's refusal of pay, if there is one, to the person identified behind the visit.

    The person's undecided submissions since the refusal wait for a manager, as they would have for a known person.
    """
    require_transaction()
    held = PayRefusal.objects.filter(campaign=campaign, surrogate_id=before).first()
    if held is None:
        return
    own = Ticket.objects.filter(workforce__campaign=campaign, surrogate_id=after, state=TicketState.SUBMITTED)
    since = own.filter(submitted_at__gt=held.at, decided_at=None)
    since.exclude(Exists(Errand.objects.filter(ticket=OuterRef("pk"), kind__in=PAY_DECISIONS))).update(
        state=TicketState.UNMATCHED, problem=REFUSED_BEFORE
    )
    if PayRefusal.objects.filter(campaign=campaign, surrogate_id=after).exists():
        held.delete()
    else:
        PayRefusal.objects.filter(pk=held.pk).update(surrogate_id=after)


def approvals_due(*, workforce: Workforce, now: datetime, limit: int = 200) -> int:
    """Create the due approvals of submitted work.

    Work of people with held pay waits for a manager, but no longer than the people were told, and not until the
    marketplace decides automatically.
    """
    terms = terms_of(workforce)
    held = PayHold.objects.filter(campaign=workforce.campaign_id, surrogate=OuterRef("surrogate"), until__gt=now)
    in_time = Q(auto_approval_at=None) | Q(auto_approval_at__gt=now + MARGIN)
    waiting = (
        Ticket.objects.filter(
            workforce=workforce,
            state=TicketState.SUBMITTED,
            submitted_at__lte=now - timedelta(seconds=terms.approve_after_seconds),
        )
        .exclude(Exists(pay_errands(OuterRef("pk"), *LIVE, ErrandState.FAILED)))
        .exclude(Exists(held), in_time)
        .order_by("submitted_at", "pk")
    )
    return sum(_approve(pk, now) for pk in waiting.values_list("pk", flat=True)[:limit])


def is_refusal_under_way(ticket: Ticket) -> bool:
    """Return whether pay for a ticket was refused and the marketplace hasn't been told yet."""
    return pay_errands(ticket, ErrandState.DUE, ErrandState.SENDING).filter(kind=ErrandKind.REJECT).exists()


def pay_errands(ticket: Any, *states: str) -> QuerySet[Errand]:
    """Return the approvals and refusals of a ticket in some states."""
    return Errand.objects.filter(ticket=ticket, kind__in=PAY_DECISIONS, state__in=states)


def ticket_lock(pk: int) -> Ticket:
    """Lock a ticket while its pay is decided, so that an approval and a refusal never run concurrently."""
    held: Ticket | None = _LOCKED.first(pk)
    if held is None:
        raise Ticket.DoesNotExist
    return held


_LOCKED = Statement(
    lambda pk: (
        Ticket.objects.select_for_update(no_key=True, of=("self",))
        .select_related("workforce", "posting__workforce")
        .filter(pk=pk)
    ),
    int,
)


@durable
def _approve(pk: int, now: datetime) -> bool:
    ticket = ticket_lock(pk)
    if ticket.state != TicketState.SUBMITTED or _LIVE_DECISIONS.rows(pk):
        return False
    errand_add(
        workforce=ticket.workforce,
        kind=ErrandKind.APPROVE,
        ticket=ticket,
        surrogate_id=ticket.surrogate_id,
        cents=ticket_terms(ticket).reward_cents,
        due_at=now,
        token=f"approve-{ticket.pk}-{attempts_of(ticket)}",
    )
    return True


def attempts_of(ticket: Ticket) -> int:
    """Return the number of pay decisions on a ticket: each decision has its own token."""
    return len(_DECISIONS.rows(ticket.pk))


_DECISIONS = Statement(
    lambda ticket: Errand.objects.filter(ticket=ticket, kind__in=PAY_DECISIONS).values_list("pk"), int
)
_LIVE_DECISIONS = Statement(lambda ticket: pay_errands(ticket, *LIVE).values_list("pk"), int)


@durable
def bonus_grant(
    *,
    ticket: Ticket,
    cents: int,
    reason: str,
    actor_id: UUID | None,
    now: datetime,
    token: str,
    undo_seconds: int = 0,
) -> Errand:
    """Grant a bonus for a submitted ticket; the same token always means the same bonus.

    Raises
    ------
    PayError
        The amount or the reason is missing, the ticket was never submitted, or the bonus exceeds the ceiling of
        the ticket's terms or the cap of the workforce.
    """
    terms = ticket_terms(ticket)
    if cents < 1 or not reason.strip():
        raise PayError("bonus_incomplete")
    if cents > terms.most_bonus_cents:
        raise PayError("bonus_ceiling", most=terms.most_bonus_cents)
    if ticket.state not in (TicketState.SUBMITTED, TicketState.APPROVED, TicketState.REFUSED):
        raise PayError("bonus_without_work")
    workforce_lock(ticket.workforce)
    granted = Errand.objects.filter(token=token).first()
    if granted is not None:
        return granted
    _refuse_beyond_cap(ticket.workforce, cents + fee_cents(cents, share=terms.fee_share))
    errand = errand_add(
        workforce=ticket.workforce,
        kind=ErrandKind.BONUS,
        ticket=ticket,
        surrogate_id=ticket.surrogate_id,
        cents=cents,
        text=reason[:900],
        due_at=now + timedelta(seconds=undo_seconds),
        decided_by_id=actor_id,
        token=token,
    )
    record(
        action="bonus_grant",
        subject=errand,
        now=now,
        actor_id=actor_id,
        scope_id=ticket.workforce.campaign_id,
        cents=cents,
        reason=reason[:300],
    )
    return errand


def workforce_lock(workforce: Workforce) -> None:
    """Lock a workforce, so that all spending under its cap is decided one after another."""
    Workforce.objects.select_for_update(no_key=True).get(pk=workforce.pk)


def _refuse_beyond_cap(workforce: Workforce, cents: int) -> None:
    cap = terms_of(workforce).cap_cents
    if cap is not None and committed_cents(workforce) + cents > cap:
        raise PayError("cap_reached")


def ticket_paid(*, ticket: Ticket, errand: Errand | None, now: datetime) -> bool:
    """Record that a ticket was approved, by us or automatically by the marketplace; return whether that is new."""
    require_transaction()
    terms = ticket_terms(ticket)
    moved = _APPROVED.run(ticket.pk, now)
    if moved:
        _enter(ticket, errand, "reward", terms.reward_cents, now)
    return bool(moved)


def bonus_paid(*, errand: Errand, now: datetime) -> None:
    """Record that a bonus was paid."""
    require_transaction()
    assert errand.ticket is not None
    if not LedgerEntry.objects.filter(errand=errand, kind="bonus").exists():
        _enter(errand.ticket, errand, "bonus", errand.cents, now)


def _enter(ticket: Ticket, errand: Errand | None, kind: str, cents: int, now: datetime) -> None:
    terms = ticket_terms(ticket)
    _ENTER.run(
        LedgerEntry(
            campaign_id=ticket.workforce.campaign_id,
            workforce=ticket.workforce,
            ticket=ticket,
            errand=errand,
            surrogate_id=ticket.surrogate_id,
            kind=kind,
            cents=cents,
            at=now,
            fee_cents=fee_cents(cents, share=terms.fee_share),
        )
    )
    transaction.on_commit(partial(PAID_CENTS.add, kind, by=cents))


_ENTER = Insert(LedgerEntry)
_APPROVED = Update(
    lambda pk, now: (
        Ticket.objects.filter(pk=pk).exclude(state=TicketState.APPROVED),
        {"state": TicketState.APPROVED, "decided_at": now},
    ),
    int,
    datetime,
)


def committed_cents(workforce: Workforce) -> int:
    """Return the paid amount plus the maximum that may still be due: assignments, training, bonuses, with fees.

    A posting commits all of its assignments until it is settled, because an accepted assignment may not be known yet.
    """
    paid = LedgerEntry.objects.filter(workforce=workforce)
    bonuses = Errand.objects.filter(
        workforce=workforce, kind=ErrandKind.BONUS, state__in=[ErrandState.DUE, ErrandState.SENDING, ErrandState.FAILED]
    )
    share = terms_of(workforce).fee_share
    owed = sum(cents + fee_cents(cents, share=share) for cents in bonuses.values_list("cents", flat=True))
    return _sum(paid, "cents") + _sum(paid, "fee_cents") + _open_cents(workforce) + owed


def _open_cents(workforce: Workforce) -> int:
    """Return the possible cost of assignments in unsettled postings, each by its own terms."""
    trained = Errand.objects.filter(
        workforce=workforce,
        kind=ErrandKind.BONUS,
        surrogate=OuterRef("tickets__surrogate"),
        token__startswith=TRAINING,
    )
    # A refused place that is offered again may cost its reward after all.
    settled = [TicketState.APPROVED] if KINDS[workforce.kind].refills else [TicketState.APPROVED, TicketState.REFUSED]
    decided = Q(tickets__state__in=settled)
    gone = (
        Q(tickets__state__in=[TicketState.APPROVED, TicketState.REFUSED])
        | Q(tickets__state=TicketState.LAPSED)
        | Q(tickets__state=None)
    )
    total = 0
    for posting in (
        workforce.postings.exclude(state=PostingState.SETTLED)
        .select_related("workforce__campaign")
        .annotate(
            decided=Count("tickets", filter=decided, distinct=True),
            trained=Count("tickets", filter=~gone & Q(Exists(trained)), distinct=True),
        )
    ):
        reward, training = place_cents(workforce, posting_terms(posting))
        places = max(0, posting.places - posting.decided)
        # A free place may go to a new person; of tickets in work it is known.
        total += places * reward + max(0, places - posting.trained) * training
    return total


def place_cents(workforce: Workforce, terms: Any) -> tuple[int, int]:
    """Return the cost of one assignment, with its fee: the reward, and the training bonus of a new person."""
    training = terms.training_bonus_cents if workforce.campaign.has_training else 0
    reward, bonus = (cents + fee_cents(cents, share=terms.fee_share) for cents in (terms.reward_cents, training))
    return reward, bonus


def _sum(rows: Any, field: str) -> int:
    return int(rows.aggregate(total=Sum(field))["total"] or 0)
