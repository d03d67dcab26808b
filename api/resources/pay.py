"""Decisions about pay: appeals, work that can't be matched with a person, and what couldn't be sent."""

from datetime import datetime, timedelta
from typing import Any, Literal

from django.utils import timezone
from ninja import Field, Query, Router

from accounts.permissions import Action
from api.http.checks import Reply, Sent
from api.http.operations import ApiRequest, operation
from api.http.paging import Page, PageQuery, page_of
from api.http.rows import row_of
from api.models import TokenScope
from quality.models import Review
from quality.people.services.suspensions import suspension_appeal_decide
from workforces.models import Appeal, Errand, Ticket, TicketState
from workforces.services.appeals import appeal_decide
from workforces.services.confirmations import ticket_accept
from workforces.services.outbox import errand_retry, errand_undo
from workforces.services.pay import PayError
from workforces.services.refusals import ticket_refuse
from workforces.services.terms import terms_of

router = Router()


class AppealReply(Reply):
    """An annotator's appeal against a refusal of pay."""

    id: int = Field(validation_alias="pk")
    ticket_id: int
    text: str
    state: str
    created_at: datetime
    answer: str
    decided_at: datetime | None


class AppealQuery(PageQuery):
    """The filter of appeals."""

    state: str = Field("open", max_length=10)


class AppealSent(Sent):
    """The decision about an appeal; the annotator reads the answer."""

    grant: bool
    answer: str = Field("", max_length=2000)


class SuspensionAppealReply(Reply):
    """The answer to an appeal against a suspension."""

    review_id: int = Field(validation_alias="pk")
    state: str
    answer: str = Field(validation_alias="appeal_answer")


class SuspensionAppealSent(Sent):
    """The decision about an appeal against a suspension; the annotator reads the answer."""

    lift: bool
    answer: str = Field("", max_length=1000)


class TicketReply(Reply):
    """A visit or an assignment whose work waits for a decision: it isn't counted or paid."""

    id: int = Field(validation_alias="pk")
    kind: str = Field(validation_alias="workforce.kind")
    remote_id: str
    state: str
    problem: str
    submitted_at: datetime | None


class TicketSent(Sent):
    """The decision about such work; if it's refused, the annotator reads the reason."""

    choice: Literal["accept", "refuse"]
    reason: str = Field("", max_length=1000)


class ErrandReply(Reply):
    """A payment, message or other task on a marketplace or panel. Amounts are US cents."""

    id: int = Field(validation_alias="pk")
    kind: str
    state: str
    cents: int
    error: str
    due_at: datetime
    ticket_id: int | None


class ErrandQuery(PageQuery):
    """The filter of errands."""

    state: Literal["due", "sending", "failed"] = Field(
        "failed", description="failed needs a decision; due can be undone."
    )


@operation(router, "GET", "/campaigns/{campaign}/appeals", Page[AppealReply], action=Action.MANAGE)
def appeal_list(request: ApiRequest, campaign: str, asked: Query[AppealQuery]) -> Any:
    """List open appeals against refusals of pay; other states list decided ones."""
    return page_of(request, Appeal.objects.filter(campaign=request.campaign, state=asked.state), asked)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/appeals/{int:appeal_id}/decide",
    AppealReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def appeal_end(request: ApiRequest, campaign: str, appeal_id: int, sent: AppealSent) -> Appeal:
    """Grant or deny an appeal. A granted one is paid."""
    rows = Appeal.objects.filter(campaign=request.campaign).select_related("ticket__workforce__campaign")
    return appeal_decide(
        appeal=row_of(rows, pk=appeal_id),
        grant=sent.grant,
        answer=sent.answer,
        actor_id=request.user.surrogate_id,
        now=timezone.now(),
    )


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/reviews/{int:review_id}/appeal",
    SuspensionAppealReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def suspension_appeal_end(request: ApiRequest, campaign: str, review_id: int, sent: SuspensionAppealSent) -> Review:
    """Answer an appeal against a suspension: lift it, or uphold it with a reason."""
    return suspension_appeal_decide(
        review=row_of(Review.objects.filter(campaign=request.campaign).select_related("campaign"), pk=review_id),
        lift=sent.lift,
        answer=sent.answer,
        actor_id=request.user.surrogate_id,
        now=timezone.now(),
    )


@operation(router, "GET", "/campaigns/{campaign}/tickets", Page[TicketReply], action=Action.MANAGE)
def ticket_list(request: ApiRequest, campaign: str, asked: Query[PageQuery]) -> Any:
    """List visits and assignments that wait for a decision."""
    rows = Ticket.objects.filter(workforce__campaign=request.campaign, state=TicketState.UNMATCHED)
    return page_of(request, rows.select_related("workforce"), asked)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/tickets/{int:ticket_id}/decide",
    TicketReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def ticket_end(request: ApiRequest, campaign: str, ticket_id: int, sent: TicketSent) -> Ticket:
    """Accept such work, which counts and is paid from then on, or refuse it."""
    rows = Ticket.objects.filter(workforce__campaign=request.campaign).select_related("workforce__campaign")
    ticket, now = row_of(rows, pk=ticket_id), timezone.now()
    actor_id = request.user.surrogate_id
    if sent.choice == "accept":
        done = ticket_accept(ticket=ticket, actor_id=actor_id, now=now)
    else:
        due_at = now + timedelta(seconds=terms_of(ticket.workforce).undo_seconds)
        done = ticket_refuse(ticket=ticket, reason=sent.reason, actor_id=actor_id, due_at=due_at, now=now)
    if not done:
        raise PayError("decided_already")
    return row_of(rows, pk=ticket_id)


@operation(router, "GET", "/campaigns/{campaign}/errands", Page[ErrandReply], action=Action.MANAGE)
def errand_list(request: ApiRequest, campaign: str, asked: Query[ErrandQuery]) -> Any:
    """List payments and messages that couldn't be sent, or that can still be undone."""
    rows = Errand.objects.filter(workforce__campaign=request.campaign, state=asked.state)
    if asked.state == "due":
        rows = rows.filter(decided_by__isnull=False)  # what a person decided; the rest would come again
    return page_of(request, rows, asked)


def _errand(request: ApiRequest, errand_id: int) -> Errand:
    rows = Errand.objects.filter(workforce__campaign=request.campaign)
    return row_of(rows.select_related("workforce__campaign", "posting"), pk=errand_id)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/errands/{int:errand_id}/retry",
    ErrandReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def errand_again(request: ApiRequest, campaign: str, errand_id: int) -> Errand:
    """Send a failed errand again, after you checked why it failed. Nothing is paid twice."""
    now = timezone.now()
    if not errand_retry(errand=_errand(request, errand_id), actor_id=request.user.surrogate_id, now=now):
        raise PayError("errand_decided")
    return _errand(request, errand_id)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/errands/{int:errand_id}/undo",
    ErrandReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def errand_end(request: ApiRequest, campaign: str, errand_id: int) -> Errand:
    """Undo a decision that wasn't sent yet, or give up a failed errand."""
    now = timezone.now()
    if not errand_undo(errand=_errand(request, errand_id), actor_id=request.user.surrogate_id, now=now):
        raise PayError("errand_sent")
    return _errand(request, errand_id)
