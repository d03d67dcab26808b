"""Examine each new annotation once: gold, standing, inspection, verdict.

A partial index finds the annotations to examine; the signal after a submission only makes it happen sooner.
"""

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from accounts.audit import record
from annotation.models import Annotation, AnnotationState, Campaign, Purpose
from annotation.slots.services.participation_locks import people_lock
from annotation.slots.services.queue import queue_rewind
from database.transactions import is_transient
from jobs.models import Job
from jobs.payloads import CampaignPayload
from jobs.services import job_enqueue, job_failed_lately
from jobs.work import Work
from quality.experts.services.inspections import inspections_draw
from quality.follow_ups.services import follow_ups_settle, followed_by
from quality.gold.services.checks import gold_check
from quality.labels.services.verdicts import items_judge, items_lock
from quality.models import PolicyVersion, Unexamined
from quality.people.services.pauses import person_assess
from quality.people.services.rules import examined_watch
from quality.policies.policy import Policy
from quality.policies.services import policy_ensure

logger = logging.getLogger(__name__)

FEWEST, MOST = 20, 80  # annotations per transaction
LONGEST_SECONDS = 0.1  # of a transaction that may grow: people wait for the same rows
REST_SECONDS, MOST_REST_SECONDS = 10, 3600  # between attempts at what could not be examined


def campaign_examine(*, work: Work, campaign: Campaign) -> dict[str, Any]:
    """Examine all pending annotations, a few per transaction."""
    found = policy_ensure(campaign=campaign, now=timezone.now())
    examined = int(work.job.result.get("examined", 0))
    people: set[UUID] = set()
    size = FEWEST
    while True:
        begun = time.perf_counter()
        with work.step(done=examined, examined=examined):
            due = waiting(now=timezone.now()).filter(campaign=campaign).select_related("item__batch")
            rows = list(due.order_by("pk")[:size])
            _examine_chunk(campaign, rows, *found)
            examined += len(rows)
            people |= {row.surrogate_id for row in rows}
        if len(rows) < size:
            examined_watch(work=work, campaign=campaign, surrogate_ids=people)
            return {"examined": examined}
        size = next_size(size, time.perf_counter() - begun)


def next_size(size: int, seconds: float) -> int:
    """Return how many annotations the next transaction examines if one with ``size`` took ``seconds``."""
    return min(MOST, 2 * size) if seconds < LONGEST_SECONDS else max(FEWEST, size // 2)


def waiting(*, now: datetime) -> QuerySet[Annotation]:
    """Return annotations to examine, found by a partial index, except those that failed a moment ago."""
    resting = Unexamined.objects.filter(annotation=OuterRef("pk"), try_at__gt=now)
    return Annotation.objects.filter(~Exists(resting), ~Q(state=AnnotationState.PROVISIONAL), is_examined=False)


def _examine_chunk(campaign: Campaign, rows: list[Annotation], version: PolicyVersion, policy: Policy) -> None:
    """Examine some annotations after taking every lock: people, annotations, items, each in a fixed order.

    People are locked only if a gold check can change their standing, or a review can change their answers; everybody
    else can continue working meanwhile.
    """
    now = timezone.now()
    moved = [
        row.surrogate_id for row in rows if row.item.batch.purpose == Purpose.GOLD or row.item.follows_id is not None
    ]
    reviewed = followed_by(rows)
    people_lock(campaign_id=campaign.pk, surrogate_ids=[*moved, *(row.surrogate_id for row in reviewed)])
    locked = Annotation.objects.select_for_update(of=("self",), no_key=True)
    held = list(locked.filter(pk__in=[row.pk for row in (*rows, *reviewed)]).order_by("pk"))
    items = {item.pk: item for item in items_lock(row.item_id for row in held)}
    wanted = {row.pk for row in rows}
    annotations = [row for row in held if row.pk in wanted and not row.is_examined]
    for annotation in annotations:
        annotation.item, annotation.campaign = items[annotation.item_id], campaign
    examine = partial(_examine, campaign, version=version, policy=policy, now=now)
    if _failure(examine, annotations) is None:
        return
    for annotation in annotations:  # something about one of them: each by itself, so that the others are examined
        error = _failure(examine, [annotation])
        if error is not None:
            logger.error("annotation %s could not be examined", annotation.pk, exc_info=error)
            _note_failure(annotation, error, now)


def _failure(examine: Callable[[list[Annotation]], None], annotations: list[Annotation]) -> Exception | None:
    """Examine annotations, all or none; return the error, if any. Transient errors are raised and end the step."""
    try:
        with transaction.atomic():
            examine(annotations)
    except Exception as error:
        if is_transient(error):
            raise
        return error
    return None


def _note_failure(annotation: Annotation, error: Exception, now: datetime) -> None:
    row, _ = Unexamined.objects.get_or_create(
        annotation=annotation, defaults={"campaign_id": annotation.campaign_id, "try_at": now, "since": now}
    )
    row.attempts += 1
    row.error = f"{type(error).__name__}: {error}"[:500]
    row.try_at = now + timedelta(seconds=min(MOST_REST_SECONDS, REST_SECONDS * 2 ** min(row.attempts - 1, 20)))
    row.save()


def examine_again(*, campaign: Campaign, actor_id: UUID, now: datetime) -> int:
    """Retry all annotations that could not be examined at once; return their number."""
    with transaction.atomic():
        rows = Unexamined.objects.filter(campaign=campaign).update(try_at=now)
        record(action="examine_again", subject=campaign, now=now, actor_id=actor_id, scope_id=campaign.pk, count=rows)
        examine_request(campaign_id=campaign.pk, now=now)
    return rows


def _examine(
    campaign: Campaign, annotations: list[Annotation], *, version: PolicyVersion, policy: Policy, now: datetime
) -> None:
    for annotation in annotations:
        if annotation.item.batch.purpose == Purpose.GOLD:
            gold_check(annotation=annotation, now=now)
            person_assess(campaign=campaign, policy=policy, surrogate_id=annotation.surrogate_id, now=now)
    inspections_draw(campaign=campaign, annotations=annotations, rate=policy.inspection_rate)
    pks = [row.pk for row in annotations]
    Annotation.objects.filter(pk__in=pks).update(is_examined=True)
    Unexamined.objects.filter(annotation__in=pks).delete()
    place = follow_ups_settle(campaign=campaign, annotations=annotations, now=now)
    items = {row.item_id: row.item for row in annotations}
    items_judge(items=list(items.values()), version=version, policy=policy, now=now)
    if place is not None:
        queue_rewind(campaign=campaign, order_key=place)


def examine_request(*, campaign_id: UUID, now: datetime) -> Job:
    """Queue a job that examines pending annotations; each campaign has at most one such job waiting."""
    return job_enqueue(
        kind="quality.examine",
        payload=CampaignPayload(campaign=str(campaign_id)),
        now=now,
        scope_id=campaign_id,
        key=_key(campaign_id),
    )


def _key(campaign_id: UUID) -> str:
    return f"examine:{campaign_id}"


def examine_due(now: datetime) -> None:
    """Queue jobs for campaigns with pending annotations, with one partial index lookup per campaign."""
    own = waiting(now=now).filter(campaign=OuterRef("pk"))
    for campaign in Campaign.objects.filter(Exists(own)).order_by("pk"):
        if not job_failed_lately(key=_key(campaign.pk), now=now):
            examine_request(campaign_id=campaign.pk, now=now)
