"""Experts' cases. Each expert first judges alone and sees no earlier opinion."""

from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from ninja import Field, Query, Router

from accounts.permissions import Action
from annotation.campaigns.selectors.sealing import unsealed
from api.http.checks import Reply, Sent, checked
from api.http.operations import ApiRequest, operation
from api.http.paging import Page, PageQuery, page_of
from api.http.rows import MOST_KEY, row_of
from api.models import TokenScope
from api.resources.jobs import JobReply, job_queued
from jobs.models import Job
from quality.experts.forms import SampleForm
from quality.experts.selectors import cases_of_expert, cases_to_judge
from quality.experts.services.cases import case_recall
from quality.experts.services.opinions import (
    case_discuss,
    consensus_confirm,
    consensus_propose,
    opinion_give,
    said_from,
)
from quality.models import REFERENCE, Case, Opinion, Phase
from quality.payloads import CasesSamplePayload

router = Router()


class CaseReply(Reply):
    """A case, as managers see it."""

    id: int = Field(validation_alias="pk")
    item_id: int
    external_id: str = Field(validation_alias="item.external_id")
    state: str
    because: str
    experts: int
    opened_at: datetime
    closed_at: datetime | None


class CaseToJudge(Reply):
    """A case that you may judge: its content and its parts, and no earlier opinion."""

    id: int = Field(validation_alias="pk")
    content: dict[str, Any] = Field(validation_alias="item.content")
    parts: list[dict[str, Any]]

    @staticmethod
    def resolve_parts(case: Case) -> list[dict[str, Any]]:
        """Return the parts without a mark of the reference."""
        return [{name: value for name, value in part.items() if name != REFERENCE} for part in case.parts]


class OpinionReply(Reply):
    """An opinion of an expert."""

    id: int = Field(validation_alias="pk")
    case_id: int
    phase: str
    is_own: bool
    said: dict[str, Any]
    justification: str
    at: datetime


class OpinionsReply(Reply):
    """The opinions on a case."""

    results: list[OpinionReply]


class OpinionSent(Sent):
    """A grade for each part of a case, by the part's key."""

    said: dict[str, Any]
    justification: str = ""


class SampleSent(Sent):
    """A random sample for the experts."""

    count: int
    experts: int = 2
    least: int = 1
    seed: int = Field(0, ge=-(2**31), lt=2**31)
    every_answer: bool = False


class MessageSent(Sent):
    """A message to the other experts of a case."""

    text: str


class ConfirmSent(Sent):
    """The proposal to confirm."""

    proposal: int


def _case_of_manager(request: ApiRequest, case_id: int) -> Case:
    return row_of(
        Case.objects.filter(unsealed(), campaign=request.campaign).select_related("item", "campaign"), pk=case_id
    )


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/cases:sample",
    JobReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
    status=202,
)
def case_sample(request: ApiRequest, campaign: str, sent: SampleSent) -> Job:
    """Send a random sample of items to the experts."""
    cleaned = checked(SampleForm(request.campaign, sent.dict()))
    payload = CasesSamplePayload(
        campaign=str(request.campaign.pk),
        count=cleaned["count"],
        seed=cleaned["seed"],
        experts=cleaned["experts"],
        every_answer=cleaned["every_answer"],
        least=cleaned["least"],
    )
    return job_queued(request, "quality.sample_cases", payload)


@operation(router, "GET", "/campaigns/{campaign}/cases", Page[CaseReply], action=Action.MANAGE)
def case_list(request: ApiRequest, campaign: str, asked: Query[PageQuery]) -> Any:
    """List the cases of a campaign. Cases of sealed splits are left out."""
    return page_of(request, Case.objects.filter(unsealed(), campaign=request.campaign).select_related("item"), asked)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/cases/{int:case_id}/recall",
    CaseReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def case_end(request: ApiRequest, campaign: str, case_id: int) -> Case:
    """Withdraw a case from the experts. Opinions given so far are kept."""
    case_recall(case=_case_of_manager(request, case_id), actor_id=request.user.surrogate_id, now=timezone.now())
    return _case_of_manager(request, case_id)


@operation(
    router,
    "GET",
    "/campaigns/{campaign}/cases:judge",
    Page[CaseToJudge],
    action=Action.JUDGE,
    scope=TokenScope.JUDGE,
)
def case_open_list(request: ApiRequest, campaign: str, asked: Query[PageQuery]) -> Any:
    """List the cases that you, as an expert, may judge. You judge each alone and see no earlier opinion."""
    rows = cases_to_judge(campaign=request.campaign, surrogate_id=request.user.surrogate_id)
    return page_of(request, rows.select_related("item"), asked)


def _case_of_expert(case_id: int, rows: "QuerySet[Case]") -> Case:
    return row_of(rows.select_related("item", "campaign"), pk=case_id)


def _to_judge(request: ApiRequest, case_id: int) -> Case:
    """Return a case that an expert may judge, or has judged already: giving an opinion again changes nothing."""
    own = Opinion.objects.filter(surrogate_id=request.user.surrogate_id, case__campaign=request.campaign)
    rows = cases_to_judge(campaign=request.campaign, surrogate_id=request.user.surrogate_id)
    judged = Case.objects.filter(
        unsealed(), campaign=request.campaign, pk__in=own.filter(phase=Phase.BLIND).values("case")
    )
    if judged.filter(pk=min(case_id, MOST_KEY - 1)).exists():
        rows = judged
    return _case_of_expert(case_id, rows)


def _discussed(request: ApiRequest, case_id: int) -> Case:
    rows = cases_of_expert(campaign=request.campaign, surrogate_id=request.user.surrogate_id)
    return _case_of_expert(case_id, rows)


def _reply(request: ApiRequest, row: Opinion) -> dict[str, Any]:
    names = ("pk", "case_id", "phase", "said", "justification", "at")
    own = row.surrogate_id == request.user.surrogate_id
    return {**{name: getattr(row, name) for name in names}, "is_own": own}


@operation(
    router,
    "GET",
    "/campaigns/{campaign}/cases/{int:case_id}/opinions",
    OpinionsReply,
    action=Action.JUDGE,
    scope=TokenScope.JUDGE,
)
def opinion_list(request: ApiRequest, campaign: str, case_id: int) -> Any:
    """List the opinions on a case that you judged, once all requested opinions exist."""
    rows = _discussed(request, case_id).opinions.order_by("pk")
    return {"results": [_reply(request, row) for row in rows]}


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/cases/{int:case_id}/opinions",
    OpinionReply,
    action=Action.JUDGE,
    scope=TokenScope.JUDGE,
)
def opinion_new(request: ApiRequest, campaign: str, case_id: int, sent: OpinionSent) -> Any:
    """Give your opinion on a case, alone. The last opinion that a case needs decides it or opens its discussion."""
    case = _to_judge(request, case_id)
    row = opinion_give(
        case=case,
        surrogate_id=request.user.surrogate_id,
        said=said_from(case, sent.said),
        justification=sent.justification,
        now=timezone.now(),
    )
    return _reply(request, row)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/cases/{int:case_id}/messages",
    None,
    action=Action.JUDGE,
    scope=TokenScope.JUDGE,
    status=204,
)
def message_new(request: ApiRequest, campaign: str, case_id: int, sent: MessageSent) -> Any:
    """Send a message to the other experts of a case under discussion."""
    case = _discussed(request, case_id)
    case_discuss(case=case, surrogate_id=request.user.surrogate_id, text=sent.text, now=timezone.now())


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/cases/{int:case_id}/consensus",
    OpinionReply,
    action=Action.JUDGE,
    scope=TokenScope.JUDGE,
)
def consensus_new(request: ApiRequest, campaign: str, case_id: int, sent: OpinionSent) -> Any:
    """Propose a consensus, with a justification."""
    case = _discussed(request, case_id)
    row = consensus_propose(
        case=case,
        surrogate_id=request.user.surrogate_id,
        said=said_from(case, sent.said),
        justification=sent.justification,
        now=timezone.now(),
    )
    return _reply(request, row)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/cases/{int:case_id}/consensus/confirm",
    OpinionReply,
    action=Action.JUDGE,
    scope=TokenScope.JUDGE,
)
def consensus_accept(request: ApiRequest, campaign: str, case_id: int, sent: ConfirmSent) -> Any:
    """Confirm the consensus that another expert proposed."""
    row = consensus_confirm(
        case=_discussed(request, case_id),
        proposal_id=sent.proposal,
        surrogate_id=request.user.surrogate_id,
        now=timezone.now(),
    )
    return _reply(request, row)
