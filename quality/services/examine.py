"""Look at new annotations, once each: gold, standing, inspection, verdict.

What is to be looked at is found by a partial index; the nudge after a submission only makes it soon.
"""

import logging
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from accounts.audit import record
from accounts.transactions import is_transient
from annotation.models import ORDINARY, Annotation, AnnotationState, Campaign, Participation, Purpose
from annotation.ordering import seeded
from annotation.services.counting import people_lock
from annotation.services.queue import queue_rewind
from annotation.tasktypes.registry import voted_types
from jobs.models import Job
from jobs.services import job_enqueue, job_failed_lately
from jobs.work import Work
from quality.models import Inspection, PolicyVersion, Unexamined
from quality.rules.policy import Policy
from quality.services.gold import gold_check, gold_plan
from quality.services.people import person_assess
from quality.services.policies import policy_ensure
from quality.services.verdicts import Judged, item_judge_locked, items_lock

logger = logging.getLogger(__name__)

CHUNK = 20  # short transactions: people wait for the same rows
REST_SECONDS, MOST_REST_SECONDS = 10, 3600  # between attempts at what could not be examined


def campaign_examine(*, work: Work, campaign: Campaign) -> dict[str, Any]:
    """Examine all that waits, a few annotations a transaction."""
    found = policy_ensure(campaign=campaign, now=timezone.now())
    examined = int(work.job.result.get("examined", 0))
    while True:
        with work.step(done=examined, examined=examined):
            rows = list(waiting(now=timezone.now()).filter(campaign=campaign).order_by("pk")[:CHUNK])
            _examine_chunk(campaign, rows, *found)
            examined += len(rows)
        if len(rows) < CHUNK:
            return {"examined": examined}


def waiting(*, now: datetime) -> QuerySet[Annotation]:
    """Return annotations to be examined, found by a partial index; not those that failed a moment ago."""
    resting = Unexamined.objects.filter(annotation=OuterRef("pk"), try_at__gt=now)
    return Annotation.objects.filter(~Exists(resting), ~Q(state=AnnotationState.PROVISIONAL), is_examined=False)


def _examine_chunk(campaign: Campaign, rows: list[Annotation], version: PolicyVersion, policy: Policy) -> None:
    """Examine some annotations, with every lock taken beforehand: people, annotations, items, each in one order."""
    now = timezone.now()
    people_lock(campaign_id=campaign.pk, surrogate_ids=[row.surrogate_id for row in rows])
    locked = Annotation.objects.select_for_update(of=("self",), no_key=True).select_related("slot")
    annotations = list(locked.filter(pk__in=[row.pk for row in rows], is_examined=False).order_by("pk"))
    items = {item.pk: item for item in items_lock(row.item_id for row in annotations)}
    rewinds = []
    for annotation in annotations:
        annotation.item, annotation.campaign = items[annotation.item_id], campaign
        judged = _examine_one(annotation, version, policy, now)
        if judged is not None and judged.rewind_to is not None:
            rewinds.append(judged.rewind_to)
    if rewinds:
        queue_rewind(campaign=campaign, order_key=min(rewinds))


def _examine_one(annotation: Annotation, version: PolicyVersion, policy: Policy, now: datetime) -> Judged | None:
    """Examine one; if that fails, note it and go on with the others. What passes by itself ends the whole step."""
    try:
        with transaction.atomic():
            judged = _examine(annotation, version, policy, now=now)
            Annotation.objects.filter(pk=annotation.pk).update(is_examined=True)
            Unexamined.objects.filter(annotation=annotation).delete()
            return judged
    except Exception as error:
        if is_transient(error):
            raise
        logger.exception("annotation %s could not be examined", annotation.pk)
        _note_failure(annotation, error, now)
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
    """Have everything that could not be examined tried again at once; return how many annotations that is."""
    with transaction.atomic():
        rows = Unexamined.objects.filter(campaign=campaign).update(try_at=now)
        record(action="examine_again", subject=campaign, now=now, actor_id=actor_id, scope_id=campaign.pk, count=rows)
        examine_request(campaign_id=campaign.pk, now=now)
    return rows


def _examine(annotation: Annotation, version: PolicyVersion, policy: Policy, *, now: datetime) -> Judged:
    campaign, is_gold = annotation.campaign, annotation.item.batch.purpose == Purpose.GOLD
    if is_gold:
        gold_check(annotation=annotation, now=now)
        person_assess(campaign=campaign, policy=policy, surrogate_id=annotation.surrogate_id, now=now)
    place = Participation.objects.filter(campaign=campaign, surrogate_id=annotation.surrogate_id).first()
    if place is not None:
        gold_plan(campaign=campaign, policy=policy, surrogate_id=place.surrogate_id, submitted=place.submitted)
    drawn = seeded(campaign.seed, "inspect", annotation.published_id) % 10**6 < policy.inspection_rate * 10**6
    is_ordinary = annotation.item.batch.purpose in ORDINARY
    if is_ordinary and drawn and annotation.state == AnnotationState.COUNTED:
        Inspection.objects.get_or_create(annotation=annotation, defaults={"campaign": campaign, "because": "sample"})
    return item_judge_locked(item=annotation.item, version=version, policy=policy, now=now)


def examine_request(*, campaign_id: UUID, now: datetime) -> Job:
    """Ask for a look at what waits; at most one such job waits for each campaign."""
    return job_enqueue(
        kind="quality.examine", payload={"campaign": str(campaign_id)}, now=now, scope_id=campaign_id,
        key=_key(campaign_id),
    )  # fmt: skip


def _key(campaign_id: UUID) -> str:
    return f"examine:{campaign_id}"


def examine_due(now: datetime) -> None:
    """Find campaigns with annotations that wait: one look into a partial index for each campaign with a vote."""
    own = waiting(now=now).filter(campaign=OuterRef("pk"))
    for campaign in Campaign.objects.filter(Exists(own), task_type__in=voted_types()).order_by("pk"):
        if not job_failed_lately(key=_key(campaign.pk), now=now):
            examine_request(campaign_id=campaign.pk, now=now)
