"""Appeals: a person whose pay was refused asks for reconsideration."""

from datetime import datetime
from uuid import UUID

from accounts.audit import record
from database.transactions import durable
from web.errors import KeyedError
from workforces.models import Appeal, AppealState, Ticket, TicketState
from workforces.services.refusals import refusal_take_back


class AppealError(KeyedError):
    """An appeal can't be opened or decided as requested."""


@durable
def appeal_open(*, ticket: Ticket, text: str, now: datetime) -> Appeal:
    """Open an appeal against a refusal; a second appeal changes nothing.

    Raises
    ------
    AppealError
        Pay for this ticket wasn't refused, or the text is empty.
    """
    if ticket.state != TicketState.REFUSED:
        raise AppealError("appeal_without_refusal")
    if not text.strip():
        raise AppealError("appeal_reason")
    appeal, opened = Appeal.objects.get_or_create(
        ticket=ticket,
        defaults={"campaign_id": ticket.workforce.campaign_id, "text": text[:2000], "created_at": now},
    )
    if opened:
        record(action="appeal_open", subject=appeal, now=now, actor_id=None, scope_id=appeal.campaign_id)
    return appeal


@durable
def appeal_decide(*, appeal: Appeal, grant: bool, answer: str, actor_id: UUID, now: datetime) -> Appeal:
    """Decide an appeal. A granted appeal is paid by reversing the refusal, or with a bonus if that is too late.

    Raises
    ------
    AppealError
        The appeal is already decided, or a denial has no answer.
    """
    if not grant and not answer.strip():
        raise AppealError("answer_is_read")
    ticket = Ticket.objects.select_for_update(no_key=True).get(pk=appeal.ticket_id)
    is_paid = ticket.state == TicketState.APPROVED  # at the marketplace itself
    if is_paid and not grant:
        raise AppealError("appeal_paid")
    to = AppealState.GRANTED if grant else AppealState.DENIED
    decided = Appeal.objects.filter(pk=appeal.pk, state=AppealState.OPEN).update(
        state=to, answer=answer[:2000], decided_by_id=actor_id, decided_at=now
    )
    if not decided:
        raise AppealError("decided_already")
    if grant and not is_paid:
        refusal_take_back(ticket=appeal.ticket, reason=answer, actor_id=actor_id, now=now)
    record(action=f"appeal_{to}", subject=appeal, now=now, actor_id=actor_id, scope_id=appeal.campaign_id)
    appeal.refresh_from_db()
    return appeal
