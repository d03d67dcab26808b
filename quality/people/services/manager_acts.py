"""Managers' acts on one person without a pending review.

A manager can warn, pause, suspend, reverse these, and exclude work.
"""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.audit import record
from annotation.models import Annotation, AnnotationState, Campaign, Participation, Purpose, Standing
from annotation.people.services.standing import standing_move
from annotation.slots.services.exclusions import annotation_exclude, annotation_restore
from annotation.slots.services.participation_locks import people_lock
from database.transactions import durable
from jobs.services import job_enqueue
from jobs.work import Work
from quality.models import Review, ReviewState
from quality.payloads import PersonWorkPayload
from quality.people.services.pauses import person_pause, person_tell
from quality.people.services.reviews import ReviewError, review_decide
from quality.people.services.suspensions import excluded_because, suspension_lift, suspension_of
from quality.policies.services import policy_ensure

BY_DATE = "a manager, by date"  # why work is excluded that was done from a date on
CHUNK = 20


class ManagerAct(StrEnum):
    """An act that managers can do to a person."""

    WARN = "warn"
    PAUSE = "pause"
    SUSPEND = "suspend"
    REINSTATE = "reinstate"
    EXCLUDE = "exclude"
    COUNT_AGAIN = "count_again"


@durable
def person_act(
    *,
    campaign: Campaign,
    surrogate_id: UUID,
    act: ManagerAct,
    reason: str,
    since: datetime | None,
    actor_id: UUID,
    now: datetime,
) -> None:
    """Apply an act to a person, with a reason that the person reads. Each act can be reversed by another.

    Raises
    ------
    ReviewError
        The reason or the date is missing, or the act doesn't fit the person's standing.
    """
    if not reason.strip():
        raise ReviewError("reason_is_read")
    place = next(iter(people_lock(campaign_id=campaign.pk, surrogate_ids=[surrogate_id])), None)
    if place is None:  # or a list said a moment ago that they are another
        raise ReviewError("person_without_work")
    if act in (ManagerAct.EXCLUDE, ManagerAct.COUNT_AGAIN):
        _enqueue(campaign, surrogate_id, act, since, actor_id, now)
    else:
        _move(campaign, place, act, reason, actor_id, now)
    record(
        action=f"person_{act}", subject=place, now=now, actor_id=actor_id, scope_id=campaign.pk, reason=reason[:1000]
    )


def _move(
    campaign: Campaign, place: Participation, act: ManagerAct, reason: str, actor_id: UUID, now: datetime
) -> None:
    standing, surrogate_id = Standing(place.standing), place.surrogate_id
    allowed = {
        ManagerAct.WARN: (Standing.ACTIVE,),
        ManagerAct.PAUSE: (Standing.ACTIVE, Standing.WARNED),
        ManagerAct.SUSPEND: (Standing.ACTIVE, Standing.WARNED, Standing.PAUSED),
        ManagerAct.REINSTATE: (Standing.WARNED, Standing.PAUSED, Standing.SUSPENDED),
    }
    if standing not in allowed[act]:
        raise ReviewError("standing_changed")
    if act is ManagerAct.WARN or (act is ManagerAct.REINSTATE and standing == Standing.WARNED):
        to = Standing.WARNED if act is ManagerAct.WARN else Standing.ACTIVE
        standing_move(
            campaign=campaign, surrogate_id=surrogate_id, to=to, actor_id=actor_id, now=now, reason=reason[:300]
        )
        person_tell(campaign, surrogate_id, to, now, {"reason": reason})
    elif act is ManagerAct.REINSTATE and standing == Standing.SUSPENDED:
        review = suspension_of(campaign=campaign, surrogate_id=surrogate_id)
        if review is None:
            raise ReviewError("standing_changed")
        suspension_lift(review=review, reason=reason, actor_id=actor_id, now=now)
    else:
        _review(campaign, place, act, reason, actor_id, now)


def _review(
    campaign: Campaign, place: Participation, act: ManagerAct, reason: str, actor_id: UUID, now: datetime
) -> None:
    """Pause a person pending a manager's review, or decide about a paused person."""
    _, policy = policy_ensure(campaign=campaign, now=timezone.now())
    if place.standing != Standing.PAUSED:
        person_pause(
            campaign=campaign,
            policy=policy,
            surrogate_id=place.surrogate_id,
            now=now,
            evidence={"manager": reason[:1000], "reason": reason[:300]},
            actor_id=actor_id,
        )
    if act is not ManagerAct.PAUSE:
        review, _ = Review.objects.get_or_create(
            campaign=campaign,
            surrogate_id=place.surrogate_id,
            state=ReviewState.OPEN,
            defaults={"opened_at": now, "decide_by": now, "evidence": {"manager": reason[:1000]}},
        )
        review_decide(
            review=review,
            suspend=act is ManagerAct.SUSPEND,
            reason=reason,
            refuse_pay=False,
            actor_id=actor_id,
            now=now,
        )


def _enqueue(
    campaign: Campaign, surrogate_id: UUID, act: ManagerAct, since: datetime | None, actor_id: UUID, now: datetime
) -> None:
    if since is None:
        raise ReviewError("day_missing")
    if since > now:
        raise ReviewError("day_to_come")
    job_enqueue(
        kind="quality.person_work",
        now=now,
        scope_id=campaign.pk,
        requested_by_id=actor_id,
        payload=PersonWorkPayload(
            campaign=str(campaign.pk),
            surrogate=str(surrogate_id),
            since=since.isoformat(),
            excludes=act is ManagerAct.EXCLUDE,
        ),
    )


def person_work(
    *, work: Work, campaign: Campaign, surrogate_id: UUID, since: datetime, excludes: bool
) -> dict[str, Any]:
    """Exclude a person's work from a time on, or restore the work that was excluded that way."""
    changed, last = int(work.job.result.get("changed", 0)), int(work.job.result.get("last", 0))
    own = Annotation.objects.filter(campaign=campaign, surrogate_id=surrogate_id, state=AnnotationState.COUNTED)
    if not excludes:
        own = excluded_because(campaign=campaign, surrogate_id=surrogate_id, because=BY_DATE)
    wanted = own.filter(submitted_at__gte=since).exclude(item__batch__purpose=Purpose.GOLD)
    actor_id = work.job.requested_by_id
    while True:
        with work.step(done=changed, changed=changed, last=last):
            now, rows = timezone.now(), list(wanted.filter(pk__gt=last).order_by("pk")[:CHUNK])
            for row in rows:
                changed += (
                    annotation_exclude(annotation=row, because=BY_DATE, actor_id=actor_id, now=now)
                    if excludes
                    else annotation_restore(annotation=row, actor_id=actor_id, now=now)
                )
            last = rows[-1].pk if rows else last
            work.checkpoint(changed=changed, last=last)
        if not rows:
            return {"changed": changed, "last": last}
