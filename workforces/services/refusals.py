"""Refusing pay, and taking that back: always a person's decision, with a reason that the worker reads."""

from datetime import datetime, timedelta
from uuid import UUID

from accounts.audit import record
from annotation.models import Annotation, Campaign
from annotation.services.counting import submissions_give_up
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
from workforces.services.identities import ticket_people_lock
from workforces.services.outbox import LIVE, OVERRIDE, appeal_token, errand_add, payments_of_appeal
from workforces.services.pay import MARGIN, PayError, attempts_of, pay_errands, ticket_lock
from workforces.services.terms import ticket_terms

OVERRIDE_DAYS = 30


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
    """Refuse pay for what a person submitted and is not paid yet; return for how many tickets.

    What they hold still waits for a manager once it is handed in; what a manager accepted before is not refused. What
    was handed in and nobody listed yet is refused when it is listed (`refusal_carry_out`). By a mark of its own they can
    be taken back together (`refusals_take_back`).

    Raises
    ------
    PayError
        No reason was given.
    """
    require_transaction()
    if not reason.strip():
        raise PayError("give the reason: the person will read it")
    said = {"at": now, "reason": reason[:1000], "mark": mark, "decided_by_id": actor_id}
    PayRefusal.objects.get_or_create(campaign=campaign, surrogate_id=surrogate_id, defaults=said)
    own = Ticket.objects.filter(workforce__campaign=campaign, surrogate_id=surrogate_id, state=TicketState.SUBMITTED)
    refused = 0
    for pk, kind in own.order_by("pk").values_list("pk", "workforce__kind"):
        if KINDS[kind].confirms:
            refused += _refuse(pk, reason, actor_id, due_at, mark)
        else:
            refused += _panel_refuse(pk, reason, actor_id, now, mark)
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


def _refuse(pk: int, reason: str, actor_id: UUID, due_at: datetime, mark: str = "") -> bool:
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


def _panel_refuse(pk: int, reason: str, actor_id: UUID, now: datetime, mark: str) -> bool:
    """Refuse the pay of a confirmed visit: the panel pays its people by itself, by the list that we give it.

    What was refused before and paid again stays paid: a person can appeal once. So does what a decision let pass.
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
    """Refuse the pay of a panel's visit that was just confirmed, if it was done when the pay of its visitor was refused."""
    require_transaction()
    done_at = Ticket.objects.values_list("answered_at", flat=True).get(pk=ticket.pk)
    if done_at is None or done_at > refusal.at or refusal.decided_by_id is None:
        return False
    return _panel_refuse(ticket.pk, refusal.reason, refusal.decided_by_id, now, refusal.mark)


def panel_visits_pass(*, campaign: Campaign, surrogate_id: UUID, now: datetime) -> None:
    """Let finished visits of a panel be paid for good: a manager decided so, or nobody decided in time.

    Other kinds pay by themselves, so that a later refusal finds nothing of what passed.
    """
    require_transaction()
    panels = [kind for kind, one in KINDS.items() if not one.confirms]
    own = Ticket.objects.filter(workforce__campaign=campaign, workforce__kind__in=panels, surrogate_id=surrogate_id)
    own.filter(state=TicketState.SUBMITTED, decided_at=None).update(decided_at=now)


def _panel_pay(ticket: Ticket) -> None:
    """Let the list for the panel say again that a visit is to be paid."""
    Errand.objects.filter(ticket=ticket, kind=ErrandKind.REJECT).update(state=ErrandState.UNDONE)
    Ticket.objects.filter(pk=ticket.pk, state=TicketState.REFUSED).update(state=TicketState.SUBMITTED, decided_at=None)


def _visit_refuse(ticket: Ticket, now: datetime) -> bool:
    """Let a doubtful visit of a panel not count. The panel pays its people by itself: nobody is told."""
    ticket_people_lock(ticket)
    doubtful = Ticket.objects.filter(pk=ticket.pk, state=TicketState.UNMATCHED)
    if not doubtful.update(state=TicketState.REFUSED, decided_at=now):
        return False
    work = Annotation.objects.filter(ticket_work__ticket=ticket).order_by("pk")
    submissions_give_up(annotations=work, because="refused", now=now)
    return True


@durable
def ticket_refuse(*, ticket: Ticket, reason: str, actor_id: UUID, due_at: datetime, now: datetime) -> bool:
    """Refuse pay for one ticket (work that nobody can match, say), with a reason.

    Raises
    ------
    PayError
        No reason was given.
    """
    if not reason.strip():
        raise PayError("give the reason: the person will read it")
    has_a_market = KINDS[ticket.workforce.kind].confirms
    refused = _refuse(ticket.pk, reason, actor_id, due_at) if has_a_market else _visit_refuse(ticket, now)
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
    """Pay what was refused: by overriding the refusal, or as a bonus when the marketplace no longer lets us.

    A panel pays its people itself: its list says so, and there is nothing to send.
    """
    require_transaction()
    if not KINDS[ticket.workforce.kind].confirms:
        _panel_pay(ticket)
        return None
    assert ticket.submitted_at is not None
    terms = ticket_terms(ticket)
    common = {
        "workforce": ticket.workforce,
        "ticket": ticket,
        "surrogate_id": ticket.surrogate_id,
        "due_at": now,
        "cents": terms.reward_cents,
        "decided_by_id": actor_id,
    }
    if now - ticket.submitted_at < timedelta(days=OVERRIDE_DAYS) - MARGIN:
        return errand_add(
            kind=ErrandKind.APPROVE, token=f"approve-{ticket.pk}-{attempts_of(ticket)}", text=OVERRIDE, **common
        )
    return refusal_make_good(ticket=ticket, reason=reason, actor_id=actor_id, now=now)


def refusals_take_back(*, campaign: Campaign, mark: str, reason: str, actor_id: UUID, now: datetime) -> int:
    """Pay what was refused under a mark: why it was refused holds no longer. Return for how many a payment was added.

    What was not sent yet is not sent; the rest is paid once, and an appeal about it is granted.
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


def refusal_make_good(*, ticket: Ticket, reason: str, actor_id: UUID | None, now: datetime) -> Errand:
    """Pay what was refused as a bonus, once. One that was undone is sent after all: if it got through, that is found first."""
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
