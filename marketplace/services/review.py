"""Run a HIT's review policy on a new submission."""

import logging
from datetime import datetime, timedelta

from django.db import transaction

from marketplace.models import Assignment, Hit, ReviewResult
from marketplace.protocol import review
from marketplace.protocol.answers import from_xml
from marketplace.protocol.errors import RequestError
from marketplace.protocol.fees import MANY_ASSIGNMENTS
from marketplace.protocol.ids import entity_id
from marketplace.services.decisions import assignment_approve_now, assignment_reject_now
from marketplace.services.notifications import event_emit
from marketplace.services.settle import hit_settle

_LOG = logging.getLogger(__name__)


def review_guarded(assignment: Assignment, hit: Hit, *, at: datetime) -> None:
    """Run the policy; if it fails, record the failure and keep the worker's submission."""
    try:
        with transaction.atomic():
            review_run(assignment, hit, at=at)
    except Exception:  # noqa: BLE001 - whatever the requester's policy does, the work stays
        _LOG.exception("the review policy of HIT %s failed", hit.hit_id)
        hit.refresh_from_db()
        assignment.refresh_from_db()
        _note(assignment, hit, at, "review", "the policy failed", is_action=True, status="Failed")


def review_run(assignment: Assignment, hit: Hit, *, at: datetime) -> None:
    """Score a submitted assignment of a locked HIT and approve, reject or extend as the policy says."""
    if hit.assignment_review_policy is None:
        return
    policy = review.parse_policy(hit.assignment_review_policy)
    answers = from_xml(assignment.answer)
    score = policy.score(answers)
    for question, correct in policy.correct(answers).items():
        _note(assignment, hit, at, "KnownAnswerCorrect", "1" if correct else "0", question=question)
    _note(assignment, hit, at, "KnownAnswerScore", str(score))
    numbers, texts = policy.numbers, policy.texts
    if score < numbers.get("ExtendIfKnownAnswerScoreIsLessThan", 0):
        _extend(assignment, hit, policy, at)
    if score >= numbers.get("ApproveIfKnownAnswerScoreIsAtLeast", 101):
        assignment_approve_now(assignment, hit, at=at, feedback=texts.get("ApproveReason", ""))
        _note(assignment, hit, at, "approve", "approved", is_action=True)
    elif score < numbers.get("RejectIfKnownAnswerScoreIsLessThan", 0):
        assignment_reject_now(assignment, hit, feedback=texts.get("RejectReason", ""), at=at)
        _note(assignment, hit, at, "reject", "rejected", is_action=True)


def _extend(assignment: Assignment, hit: Hit, policy: review.KnownAnswers, at: datetime) -> None:
    """Request one more assignment if limit, ten-assignment rule and funds allow it; otherwise record a failure."""
    limit = policy.numbers.get("ExtendMaximumAssignments", 0)
    after = hit.max_assignments + 1
    if after > limit or hit.max_assignments < MANY_ASSIGNMENTS <= after:
        _note(assignment, hit, at, "extend", "not extended: the limit is reached", is_action=True, status="Cancelled")
        return
    longer = at + timedelta(seconds=policy.numbers.get("ExtendMinimumTimeInSeconds", 0))
    hit.max_assignments = after
    if longer > hit.expires_at:
        hit.expires_at = longer
        hit.is_expired = False
    try:
        hit_settle(hit, at=at)
    except RequestError:  # no funds: nothing was written
        hit.refresh_from_db()
        _note(assignment, hit, at, "extend", "not extended: no funds", is_action=True, status="Failed")
        return
    event_emit(event="HITExtended", hit=hit, at=at)
    _note(assignment, hit, at, "extend", "extended by one assignment", is_action=True)


def _note(
    assignment: Assignment,
    hit: Hit,
    at: datetime,
    name: str,
    value: str,
    *,
    question: str | None = None,
    is_action: bool = False,
    status: str = "Succeeded",
) -> None:
    ReviewResult.objects.create(
        hit=hit,
        assignment=assignment,
        action_id=entity_id(),
        is_action=is_action,
        name=name,
        value=value,
        question_id=question,
        status=status,
        at=at,
    )
