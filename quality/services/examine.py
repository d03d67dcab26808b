"""Look at new annotations, once each: gold, standing, inspection, verdict.

What is to be looked at is found by a partial index; the nudge after a submission only makes it soon.
"""

import logging
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from accounts.audit import record
from annotation.models import Annotation, Campaign, Participation
from annotation.ordering import seeded
from annotation.tasktypes.base import Voted
from annotation.tasktypes.registry import TASK_TYPES
from jobs.models import Job
from jobs.services import job_enqueue
from jobs.ticks import on_tick
from jobs.work import Work
from quality.models import Inspection, PolicyVersion
from quality.rules.policy import Policy
from quality.services.gold import gold_check, gold_plan
from quality.services.people import person_assess
from quality.services.policies import policy_ensure
from quality.services.verdicts import item_judge

logger = logging.getLogger(__name__)

VOTED = [key for key, task_type in TASK_TYPES.items() if isinstance(task_type, Voted)]
CHUNK = 20  # short transactions: people wait for the same rows


def campaign_examine(*, work: Work, campaign: Campaign) -> dict[str, Any]:
    """Examine all that waits, a few annotations a transaction."""
    found = policy_ensure(campaign=campaign, now=timezone.now())
    examined = int(work.job.result.get("examined", 0))
    while True:
        with work.step(done=examined, examined=examined):
            waiting = list(
                Annotation.objects.filter(campaign=campaign, is_examined=False)
                .exclude(not_counted_because="unverified")
                .select_related("item__batch", "campaign", "slot")
                .order_by("pk")[:CHUNK]
            )
            for annotation in waiting:
                _examine_one(annotation, *found)
            examined += len(waiting)
        if len(waiting) < CHUNK:
            break
    return {"examined": examined}


def _examine_one(annotation: Annotation, version: PolicyVersion, policy: Policy) -> None:
    """Examine one; if that goes wrong, the others are examined all the same and this one is left to a person."""
    # First: what comes to it while it is looked at makes it wait again.
    Annotation.objects.filter(pk=annotation.pk).update(is_examined=True)
    annotation.refresh_from_db(fields=["counted", "not_counted_because", "slot"])
    try:
        with transaction.atomic():
            _examine(annotation, version, policy, now=timezone.now())
    except Exception as error:
        logger.exception("annotation %s could not be examined", annotation.pk)
        record(
            action="examine_fail", subject=annotation, now=timezone.now(), actor_id=None,
            scope_id=annotation.campaign_id, error=repr(error)[:300],
        )  # fmt: skip


def _examine(annotation: Annotation, version: PolicyVersion, policy: Policy, *, now: datetime) -> None:
    campaign = annotation.campaign
    if gold_check(annotation=annotation, now=now) is not None:
        person_assess(campaign=campaign, policy=policy, surrogate_id=annotation.surrogate_id, now=now)
    place = Participation.objects.filter(campaign=campaign, surrogate_id=annotation.surrogate_id).first()
    if place is not None:
        gold_plan(campaign=campaign, policy=policy, surrogate_id=place.surrogate_id, submitted=place.submitted)
    if annotation.item.batch.is_gold or annotation.item.batch.is_pilot:
        return
    drawn = seeded(campaign.seed, "inspect", annotation.published_id) % 10**6 < policy.inspection_rate * 10**6
    if annotation.counted and drawn:
        Inspection.objects.get_or_create(annotation=annotation, defaults={"campaign": campaign, "because": "sample"})
    item_judge(item=annotation.item, version=version, policy=policy, now=now)


def examine_request(*, campaign_id: Any, now: datetime) -> Job:
    """Ask for a look at what waits; at most one such job waits for each campaign."""
    return job_enqueue(
        kind="quality.examine", payload={"campaign": str(campaign_id)}, now=now, scope_id=campaign_id,
        key=f"examine:{campaign_id}",
    )  # fmt: skip


@on_tick
def examine_due(now: datetime) -> None:
    """Find campaigns with annotations that wait: one look into a partial index for each campaign with a vote."""
    waiting = Annotation.objects.filter(campaign=OuterRef("pk"), is_examined=False).exclude(
        not_counted_because="unverified"
    )
    for campaign in Campaign.objects.filter(Exists(waiting), task_type__in=VOTED).order_by("pk"):
        examine_request(campaign_id=campaign.pk, now=now)
