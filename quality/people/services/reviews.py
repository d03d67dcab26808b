"""Reviews: a manager decides about a paused annotator, or the review expires."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction

from accounts.audit import record
from annotation.models import Annotation, AnnotationState, Campaign, Purpose, Standing
from annotation.people.selectors.standing import notice_of
from annotation.people.services.standing import standing_move
from annotation.slots.services.counting import SUSPENDED
from annotation.slots.services.exclusions import annotation_exclude
from annotation.slots.services.participation_locks import people_lock
from database.transactions import durable
from jobs.services import job_enqueue
from jobs.work import Work
from quality.models import Review, ReviewState
from quality.payloads import ReviewPayload
from web.errors import KeyedError
from workforces.kinds.registry import KINDS
from workforces.services.messages import person_message
from workforces.services.pay import pay_release
from workforces.services.refusals import tickets_refuse, work_pass


class ReviewError(KeyedError):
    """A decision can't be made as requested."""


def review_still(review: Review) -> None:
    """Lock the person of a review; refuse if the review has just moved to another person."""
    people_lock(campaign_id=review.campaign_id, surrogate_ids=[review.surrogate_id])
    if not Review.objects.filter(pk=review.pk, surrogate_id=review.surrogate_id).exists():
        raise ReviewError("standing_changed")


def _decision_check(*, suspend: bool, reason: str, refuse_pay: bool) -> None:
    if suspend and not reason.strip():
        raise ReviewError("reason_is_read")
    if refuse_pay and not suspend:
        raise ReviewError("refusal_without_suspension")


@durable
def review_decide(
    *,
    review: Review,
    suspend: bool,
    reason: str,
    refuse_pay: bool,
    actor_id: UUID,
    now: datetime,
    undo_seconds: int = 0,
) -> Review:
    """Decide about a paused annotator.

    After a suspension, their work is paid but not counted. Refusing pay is a second decision, and
    only pay that is still due can be refused.

    Raises
    ------
    ReviewError
        The review is already decided, or the reason is missing.
    """
    _decision_check(suspend=suspend, reason=reason, refuse_pay=refuse_pay)
    to = ReviewState.SUSPENDED if suspend else ReviewState.REINSTATED
    review_still(review)
    suspended = review.campaign.participations.filter(surrogate_id=review.surrogate_id, standing=Standing.SUSPENDED)
    if not suspend and suspended.exists():
        raise ReviewError("suspended_already")
    decided = Review.objects.filter(pk=review.pk, state=ReviewState.OPEN).update(
        state=to, decided_at=now, decided_by_id=actor_id, reason=reason[:1000], refuses_pay=refuse_pay
    )
    if not decided:
        raise ReviewError("decided_already")
    standing_move(
        campaign=review.campaign,
        surrogate_id=review.surrogate_id,
        actor_id=actor_id,
        now=now,
        reason=reason[:300],
        to=Standing.SUSPENDED if suspend else Standing.ACTIVE,
    )
    pay_release(campaign=review.campaign, surrogate_id=review.surrogate_id)
    if not refuse_pay:
        work_pass(campaign=review.campaign, surrogate_id=review.surrogate_id, now=now)
    if suspend:
        _suspend(review, reason, refuse_pay=refuse_pay, actor_id=actor_id, now=now, undo_seconds=undo_seconds)
    else:
        exclusions_end(campaign=review.campaign, surrogate_id=review.surrogate_id, now=now)
    record(
        action=f"review_{to}",
        subject=review,
        now=now,
        actor_id=actor_id,
        scope_id=review.campaign_id,
        reason=reason[:1000],
        refuses_pay=refuse_pay,
    )
    review.refresh_from_db()
    return review


def exclusions_end(*, campaign: Campaign, surrogate_id: UUID, now: datetime) -> None:
    """Allow a person to get tickets again in every workforce."""
    for workforce in campaign.workforces.all():
        KINDS[workforce.kind].let_back(workforce=workforce, surrogate_id=surrogate_id, now=now)


def _suspend(
    review: Review, reason: str, *, refuse_pay: bool, actor_id: UUID, now: datetime, undo_seconds: int
) -> None:
    """Exclude an annotator's votes and notify the annotator.

    Refuse the pay that is still due, if that was decided.
    """
    person_message(
        campaign=review.campaign,
        surrogate_id=review.surrogate_id,
        token=f"review-{review.pk}",
        now=now,
        text=f"{notice_of(Standing.SUSPENDED)} {reason}",
    )
    if refuse_pay:
        tickets_refuse(
            campaign=review.campaign,
            surrogate_id=review.surrogate_id,
            reason=reason,
            actor_id=actor_id,
            due_at=now + timedelta(seconds=undo_seconds),
            now=now,
            mark=refusal_mark(review),
        )
    exclusion_request(review=review, actor_id=actor_id, now=now)


def refusal_mark(review: Review) -> str:
    """Return the mark of the refusals that belong to a suspension."""
    return f"-review-{review.pk}"


def exclusion_request(*, review: Review, actor_id: UUID | None, now: datetime) -> None:
    """Queue a job that excludes all votes of a suspended person."""
    job_enqueue(
        kind="quality.exclude",
        payload=ReviewPayload(review=review.pk),
        now=now,
        scope_id=review.campaign_id,
        requested_by_id=actor_id,
        key=f"exclude:{review.pk}",
    )


def person_exclude(*, work: Work, review: Review, now: datetime) -> dict[str, Any]:
    """Exclude all votes of a suspended person; their work stays paid, and its slots reopen."""
    excluded = int(work.job.result.get("excluded", 0))
    while True:
        with work.step(done=excluded, excluded=excluded):
            held = Review.objects.select_for_update(no_key=True).get(pk=review.pk)
            if held.state != ReviewState.SUSPENDED:  # taken back meanwhile
                return {"excluded": excluded}
            rows = list(
                Annotation.objects.filter(
                    campaign=review.campaign, surrogate_id=held.surrogate_id, state=AnnotationState.COUNTED
                )
                .exclude(item__batch__purpose=Purpose.GOLD)
                .order_by("pk")[:20]
            )
            for row in rows:
                annotation_exclude(annotation=row, because=SUSPENDED, actor_id=review.decided_by_id, now=now)
            excluded += len(rows)
        if not rows:
            return {"excluded": excluded}


def reviews_lapse(now: datetime) -> None:
    """Record expired reviews.

    The hold on pay ends automatically; the pause lasts until a manager decides.
    """
    due = Review.objects.filter(state=ReviewState.OPEN, decide_by__lt=now).exclude(evidence__has_key="lapsed")
    for review in due.order_by("pk")[:50]:
        with transaction.atomic():
            Review.objects.filter(pk=review.pk).update(evidence={**review.evidence, "lapsed": now.isoformat()})
            work_pass(campaign=review.campaign, surrogate_id=review.surrogate_id, now=now)
            record(action="review_lapse", subject=review, now=now, actor_id=None, scope_id=review.campaign_id)
