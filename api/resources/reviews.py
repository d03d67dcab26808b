"""Decisions of managers: reviews of annotators, spot checks, questions, and rules on behavior."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.utils import timezone
from ninja import Field, Query, Router

from accounts.permissions import Action
from annotation.campaigns.selectors.sealing import unsealed
from annotation.models import FaqEntry, ItemReport
from annotation.questions.selectors import questions_open
from annotation.questions.services import faq_publish, faq_retire, question_answer
from api.http.checks import Reply, Sent, checked
from api.http.operations import ApiRequest, operation
from api.http.paging import Page, PageQuery, page_of
from api.http.rows import row_of
from api.models import TokenScope
from api.resources.jobs import JobReply, job_queued
from jobs.models import Job
from quality.experts.services.inspections import inspection_decide, inspections_waiting
from quality.models import Inspection, InspectionVerdict, Review, WatchRule
from quality.payloads import DryRunPayload
from quality.people.forms import RuleForm
from quality.people.services.reviews import review_decide
from quality.people.services.rules import condition_from, rule_add, rule_end
from workforces.services.terms import terms_of

router = Router()


class ReviewReply(Reply):
    """A decision about an annotator. Without one in time, held pay is released."""

    id: int = Field(validation_alias="pk")
    person: UUID = Field(validation_alias="surrogate_id")
    state: str
    evidence: dict[str, Any]
    opened_at: datetime
    decide_by: datetime
    decided_at: datetime | None
    reason: str


class ReviewQuery(PageQuery):
    """The filter of reviews."""

    state: str = Field("open", max_length=10)


class ReviewSent(Sent):
    """A decision about an annotator, who reads the reason."""

    choice: Literal["suspend", "refuse", "reinstate"] = Field(
        description="suspend pays for completed work; refuse also refuses pay that is still due."
    )
    reason: str = Field("", max_length=1000)


class SpotCheckReply(Reply):
    """An annotation drawn for a manual check."""

    id: int = Field(validation_alias="pk")
    annotation_id: int
    item_id: int = Field(validation_alias="annotation.item_id")
    content: dict[str, Any] = Field(validation_alias="annotation.item.content")
    answer: Any = Field(validation_alias="annotation.answer")
    because: str
    verdict: str


class SpotCheckSent(Sent):
    """The result of a manual check."""

    verdict: Literal["good", "debatable", "wrong"]
    exclude: bool = Field(False, description="Whether the annotation no longer counts.")


class QuestionReply(Reply):
    """A question of an annotator about an item."""

    id: int = Field(validation_alias="pk")
    item_id: int
    text: str
    created_at: datetime
    resolved_at: datetime | None
    answer: str


class AnswerSent(Sent):
    """The answer to a question; empty to close it."""

    answer: str = Field("", max_length=5000)
    faq: str = Field("", max_length=1000, description="A wording that doesn't reveal the item, to publish both.")


class FaqReply(Reply):
    """A question and answer that every annotator reads."""

    id: int = Field(validation_alias="pk")
    question: str
    answer: str
    published_at: datetime
    retired_at: datetime | None


class FaqSent(Sent):
    """A question and answer to publish."""

    question: str = Field(min_length=1, max_length=1000)
    answer: str = Field(min_length=1, max_length=5000)


class RuleReply(Reply):
    """A rule on annotators' behavior. Rules never change; they are replaced."""

    id: int = Field(validation_alias="pk")
    collector: str
    is_above: bool
    limit: float
    window: int
    least: int
    act: str
    created_at: datetime
    ended_at: datetime | None


class RuleSent(Sent):
    """A rule: if a measure over a window is above or below a limit, do something."""

    collector: str = Field(description="gold, inspection, speed, same, or skips.")
    is_above: bool = True
    limit: float = Field(allow_inf_nan=False)
    window: int = 20
    least: int = 10
    act: str = Field(description="notify, warn, or pause.")


@operation(router, "GET", "/campaigns/{campaign}/reviews", Page[ReviewReply], action=Action.MANAGE)
def review_list(request: ApiRequest, campaign: str, asked: Query[ReviewQuery]) -> Any:
    """List decisions about annotators that are to be made; other states list past ones."""
    return page_of(request, Review.objects.filter(campaign=request.campaign, state=asked.state), asked)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/reviews/{int:review_id}/decide",
    ReviewReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def review_end(request: ApiRequest, campaign: str, review_id: int, sent: ReviewSent) -> Review:
    """Decide about a paused annotator."""
    review = row_of(Review.objects.filter(campaign=request.campaign), pk=review_id)
    undo = max((terms_of(row).undo_seconds for row in request.campaign.workforces.all()), default=0)
    review_decide(
        review=review,
        suspend=sent.choice != "reinstate",
        refuse_pay=sent.choice == "refuse",
        reason=sent.reason,
        actor_id=request.user.surrogate_id,
        now=timezone.now(),
        undo_seconds=undo,
    )
    review.refresh_from_db()
    return review


@operation(router, "GET", "/campaigns/{campaign}/spot-checks", Page[SpotCheckReply], action=Action.MANAGE)
def spot_check_list(request: ApiRequest, campaign: str, asked: Query[PageQuery]) -> Any:
    """List annotations that wait for a spot check, without their annotators. Sealed splits are left out."""
    return page_of(request, inspections_waiting(campaign=request.campaign).select_related("annotation__item"), asked)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/spot-checks/{int:check_id}/decide",
    SpotCheckReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def spot_check_end(request: ApiRequest, campaign: str, check_id: int, sent: SpotCheckSent) -> Inspection:
    """Save the result of a spot check; the first one counts."""
    rows = Inspection.objects.filter(unsealed("annotation__item"), campaign=request.campaign)
    check = row_of(rows.select_related("annotation__item", "annotation__campaign"), pk=check_id)
    inspection_decide(
        inspection=check,
        verdict=InspectionVerdict(sent.verdict),
        exclude=sent.exclude,
        actor_id=request.user.surrogate_id,
        now=timezone.now(),
    )
    check.refresh_from_db(fields=["verdict"])
    return check


@operation(router, "GET", "/campaigns/{campaign}/questions", Page[QuestionReply], action=Action.MANAGE)
def question_list(request: ApiRequest, campaign: str, asked: Query[PageQuery]) -> Any:
    """List the annotators' questions that have no answer yet."""
    return page_of(request, questions_open(request.campaign), asked)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/questions/{int:question_id}/answer",
    QuestionReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def question_end(request: ApiRequest, campaign: str, question_id: int, sent: AnswerSent) -> ItemReport:
    """Answer a question, close it, or publish question and answer to all annotators."""
    rows = ItemReport.objects.filter(item__campaign=request.campaign).select_related("item__batch", "item__campaign")
    report = row_of(rows, pk=question_id)
    actor_id, now = request.user.surrogate_id, timezone.now()
    question_answer(report=report, answer=sent.answer, faq=sent.faq, actor_id=actor_id, now=now)
    report.refresh_from_db()
    return report


@operation(router, "GET", "/campaigns/{campaign}/faq", Page[FaqReply], action=Action.MANAGE)
def faq_list(request: ApiRequest, campaign: str, asked: Query[PageQuery]) -> Any:
    """List the questions and answers that annotators read, and those that were removed."""
    return page_of(request, FaqEntry.objects.filter(campaign=request.campaign), asked)


@operation(
    router, "POST", "/campaigns/{campaign}/faq", FaqReply, action=Action.MANAGE, scope=TokenScope.MANAGE, status=201
)
def faq_new(request: ApiRequest, campaign: str, sent: FaqSent) -> FaqEntry:
    """Publish a question and its answer to all annotators."""
    return faq_publish(
        campaign=request.campaign,
        question=sent.question,
        answer=sent.answer,
        actor_id=request.user.surrogate_id,
        now=timezone.now(),
    )


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/faq/{int:entry_id}/retire",
    FaqReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def faq_end(request: ApiRequest, campaign: str, entry_id: int) -> FaqEntry:
    """Remove a published question and answer; it stays on record."""
    entry = row_of(FaqEntry.objects.filter(campaign=request.campaign), pk=entry_id)
    faq_retire(entry=entry, actor_id=request.user.surrogate_id, now=timezone.now())
    entry.refresh_from_db()
    return entry


@operation(router, "GET", "/campaigns/{campaign}/rules", Page[RuleReply], action=Action.MANAGE)
def rule_list(request: ApiRequest, campaign: str, asked: Query[PageQuery]) -> Any:
    """List the rules on annotators' behavior, also those that ended."""
    return page_of(request, WatchRule.objects.filter(campaign=request.campaign), asked)


@operation(
    router, "POST", "/campaigns/{campaign}/rules", RuleReply, action=Action.MANAGE, scope=TokenScope.MANAGE, status=201
)
def rule_new(request: ApiRequest, campaign: str, sent: RuleSent) -> WatchRule:
    """Enable a rule; it applies from now on."""
    cleaned = checked(RuleForm(sent.dict()))
    actor_id, now = request.user.surrogate_id, timezone.now()
    return rule_add(campaign=request.campaign, condition=condition_from(cleaned), actor_id=actor_id, now=now)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/rules:test",
    JobReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
    status=202,
)
def rule_test(request: ApiRequest, campaign: str, sent: RuleSent) -> Job:
    """Test a rule on stored history without acting: the job's `result` counts what it would have done."""
    cleaned = checked(RuleForm(sent.dict()))
    payload = DryRunPayload(campaign=str(request.campaign.pk), rule=cleaned)
    return job_queued(request, "quality.dry_run", payload)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/rules/{int:rule_id}/end",
    RuleReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def rule_stop(request: ApiRequest, campaign: str, rule_id: int) -> WatchRule:
    """Disable a rule; what it did stays."""
    rule = row_of(WatchRule.objects.filter(campaign=request.campaign), pk=rule_id)
    rule_end(rule=rule, actor_id=request.user.surrogate_id, now=timezone.now())
    rule.refresh_from_db()
    return rule
