"""Appeals against a suspension: a suspended annotator appeals once, and a manager answers."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery
from django.utils.translation import gettext_lazy as _

from accounts.audit import record
from accounts.models import User
from annotation.models import Annotation, AnnotationState, Campaign, CountedChange, NotificationKind, Standing
from annotation.notifications.services import notify
from annotation.people.services.standing import standing_move
from annotation.slots.services.counting import SUSPENDED
from annotation.slots.services.exclusions import annotation_restore
from database.transactions import durable
from jobs.services import job_enqueue
from jobs.work import Work
from quality.models import Review, ReviewState
from quality.payloads import ReviewPayload
from quality.people.services.reviews import ReviewError, exclusions_end, refusal_mark, review_still
from workforces.services.messages import person_message
from workforces.services.pay import pay_refusal_end
from workforces.services.refusals import refusals_take_back

MOST_CHARACTERS = 2000
CHUNK = 20
LIFTED = _("The suspension was lifted.")


@durable
def suspension_appeal(*, campaign: Campaign, surrogate_id: UUID, text: str, now: datetime) -> Review:
    """Record an appeal against a person's last suspension; a second appeal changes nothing.

    Raises
    ------
    ReviewError
        The person isn't suspended, or wrote nothing.
    """
    review = suspension_of(campaign=campaign, surrogate_id=surrogate_id)
    place = campaign.participations.filter(surrogate_id=surrogate_id, standing=Standing.SUSPENDED).first()
    if review is None or place is None:
        raise ReviewError("not_suspended")
    if not text.strip():
        raise ReviewError("appeal_reason")
    new = Review.objects.filter(pk=review.pk, appealed_at=None).update(appeal=text[:MOST_CHARACTERS], appealed_at=now)
    if new:
        record(action="suspension_appeal", subject=review, now=now, actor_id=surrogate_id, scope_id=campaign.pk)
    review.refresh_from_db()
    return review


def suspension_of(*, campaign: Campaign, surrogate_id: UUID) -> Review | None:
    """Return the review that caused a person's last suspension."""
    reviews = Review.objects.filter(campaign=campaign, surrogate_id=surrogate_id, state=ReviewState.SUSPENDED)
    return reviews.order_by("-decided_at", "-pk").first()


@durable
def suspension_appeal_decide(*, review: Review, lift: bool, answer: str, actor_id: UUID, now: datetime) -> Review:
    """Answer an appeal. After a lifted suspension, the person can work again, and their work counts if slots are free.

    Raises
    ------
    ReviewError
        There is no appeal, it was already answered, or a denial gives no reason.
    """
    if not lift and not answer.strip():
        raise ReviewError("answer_is_read")
    review_still(review)
    waiting = Review.objects.filter(pk=review.pk, state=ReviewState.SUSPENDED, appealed_at__isnull=False)
    state = {"state": ReviewState.REINSTATED, "decided_at": now} if lift else {}
    decided = waiting.filter(appeal_decided_at=None).update(
        appeal_answer=answer[:MOST_CHARACTERS], appeal_decided_at=now, appeal_decided_by_id=actor_id, **state
    )
    if not decided:
        raise ReviewError("decided_already")
    person_message(
        campaign=review.campaign, surrogate_id=review.surrogate_id, text=answer, now=now, token=f"appeal-{review.pk}"
    )
    if lift:
        _lift(review, answer, actor_id, now)
    else:
        notify(
            campaign=review.campaign,
            kind=NotificationKind.STANDING,
            users=User.objects.filter(surrogate_id=review.surrogate_id),
            now=now,
            appeal=answer[:MOST_CHARACTERS],
        )
    action = "suspension_lift" if lift else "suspension_uphold"
    record(action=action, subject=review, now=now, actor_id=actor_id, scope_id=review.campaign_id, answer=answer[:1000])
    review.refresh_from_db()
    return review


@durable
def suspension_lift(*, review: Review, reason: str, actor_id: UUID, now: datetime) -> None:
    """Lift a suspension without an appeal; the person's work counts again where its slots are still free.

    Raises
    ------
    ReviewError
        It was already lifted.
    """
    review_still(review)
    lifted = Review.objects.filter(pk=review.pk, state=ReviewState.SUSPENDED).update(
        state=ReviewState.REINSTATED, decided_at=now, decided_by_id=actor_id
    )
    if not lifted:
        raise ReviewError("decided_already")
    _lift(review, reason, actor_id, now)
    record(
        action="suspension_lift",
        subject=review,
        now=now,
        actor_id=actor_id,
        scope_id=review.campaign_id,
        reason=reason[:1000],
    )


def _lift(review: Review, answer: str, actor_id: UUID, now: datetime) -> None:
    """Reactivate a person; pay refused with the suspension is paid, since the work counts again."""
    standing_move(
        campaign=review.campaign,
        surrogate_id=review.surrogate_id,
        to=Standing.ACTIVE,
        actor_id=actor_id,
        now=now,
        reason=answer[:300],
    )
    # Several of their visits may have been suspended; an active annotator is suspended by none of them.
    own = Review.objects.filter(campaign=review.campaign, surrogate_id=review.surrogate_id)
    for one in own.filter(refuses_pay=True).order_by("pk"):  # those lifted before too: what was sent late is paid now
        refusals_take_back(
            campaign=review.campaign, mark=refusal_mark(one), reason=answer or str(LIFTED), actor_id=actor_id, now=now
        )
    pay_refusal_end(campaign=review.campaign, surrogate_id=review.surrogate_id)
    own.filter(state=ReviewState.SUSPENDED).update(state=ReviewState.REINSTATED, decided_at=now, decided_by_id=actor_id)
    own.filter(appealed_at__isnull=False, appeal_decided_at=None).update(
        appeal_answer=answer[:MOST_CHARACTERS], appeal_decided_at=now, appeal_decided_by_id=actor_id
    )
    exclusions_end(campaign=review.campaign, surrogate_id=review.surrogate_id, now=now)
    job_enqueue(
        kind="quality.restore",
        payload=ReviewPayload(review=review.pk),
        now=now,
        scope_id=review.campaign_id,
        requested_by_id=actor_id,
        key=f"restore:{review.pk}",
    )


def excluded_because(*, campaign: Campaign, surrogate_id: UUID, because: str) -> QuerySet[Annotation]:
    """Return a person's excluded annotations whose last change has the given reason."""
    last_change = CountedChange.objects.filter(annotation=OuterRef("pk")).order_by("-pk").values("because")[:1]
    own = Annotation.objects.filter(campaign=campaign, surrogate_id=surrogate_id, state=AnnotationState.EXCLUDED)
    return own.annotate(why=Subquery(last_change)).filter(why=because)


def person_restore(*, work: Work, review: Review, now: datetime) -> dict[str, Any]:
    """Restore the votes that a suspension excluded, if their slots are still free."""
    restored, last = int(work.job.result.get("restored", 0)), int(work.job.result.get("last", 0))
    excluded = excluded_because(campaign=review.campaign, surrogate_id=review.surrogate_id, because=SUSPENDED)
    while True:
        with work.step(done=restored, restored=restored, last=last):
            rows = list(excluded.filter(pk__gt=last).order_by("pk")[:CHUNK])
            for row in rows:
                restored += annotation_restore(annotation=row, actor_id=work.job.requested_by_id, now=now)
            last = rows[-1].pk if rows else last
            work.checkpoint(restored=restored, last=last)
        if not rows:
            return {"restored": restored, "last": last}
