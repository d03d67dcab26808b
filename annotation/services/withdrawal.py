"""Taking back consent: the work is unlinked from the person and leaves later releases."""

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from accounts.audit import record
from accounts.models import Membership, Role, Surrogate
from accounts.services import consent_withdraw
from annotation.models import (
    Annotation,
    Assignment,
    AssignmentState,
    Campaign,
    EventChunk,
    ItemReport,
    Participation,
    Standing,
)
from annotation.services.claims import participation_lock
from annotation.services.work import slots_reopen
from annotation.tasktypes.registry import TASK_TYPES


def participation_withdraw(*, campaign: Campaign, surrogate_id: UUID, now: datetime) -> int:
    """Withdraw somebody from a campaign and return how many annotations were unlinked.

    What they did stays, under a fresh surrogate that nothing leads to, not counted; its slots reopen.
    Their click logs are deleted. Releases that exist already are not changed.
    """
    with transaction.atomic():
        participation_lock(campaign_id=campaign.pk, surrogate_id=surrogate_id)
        consent_withdraw(scope_id=campaign.pk, surrogate_id=surrogate_id, now=now)
        mine = Assignment.objects.filter(campaign=campaign, surrogate_id=surrogate_id)
        held = mine.select_for_update().filter(state__in=[AssignmentState.LIVE, AssignmentState.RESERVED])
        slot_ids = list(held.values_list("slot_id", flat=True))
        held.update(state=AssignmentState.RELEASED, ended_at=now, draft={})
        annotations = Annotation.objects.filter(campaign=campaign, surrogate_id=surrogate_id)
        counted = annotations.select_for_update(of=("self",)).filter(
            Q(counted=True) | Q(not_counted_because="unverified", slot__isnull=False)
        )
        slot_ids += counted.values_list("slot_id", flat=True)
        annotations.filter(Q(counted=True) | Q(not_counted_because="unverified")).update(
            counted=False, not_counted_because="withdrawn", is_examined=False
        )
        for start in range(0, len(slot_ids), 500):
            slots_reopen(slot_ids=slot_ids[start : start + 500])
        nobody = Surrogate.objects.create()
        unlinked = annotations.update(surrogate=nobody, ticket=None)  # a ticket would lead back to the person
        EventChunk.objects.filter(assignment__in=mine).delete()
        mine.update(surrogate=nobody)
        # Reports get a surrogate of their own: they must not be a way back to the annotations.
        reports = ItemReport.objects.filter(item__campaign=campaign, surrogate_id=surrogate_id)
        reports.update(surrogate=Surrogate.objects.create())
        mine_here = Participation.objects.filter(campaign=campaign, surrogate_id=surrogate_id)
        mine_here.filter(standing=Standing.ACTIVE).delete()  # leaving does not lift a suspension
        mine_here.update(cursor=0)
        Membership.objects.filter(scope_id=campaign.pk, user__surrogate_id=surrogate_id, role=Role.ANNOTATOR).delete()
        # Names neither the person nor the annotations: the trail must not be the link that was just cut.
        record(action="work_unlink", subject=campaign, now=now, actor_id=None, scope_id=campaign.pk, count=unlinked)
    return unlinked


def annotation_redact(*, annotation: Annotation, actor_id: UUID, reason: str, now: datetime) -> None:
    """Remove what was typed freely from one annotation: the only change that the database lets through."""
    task_type = TASK_TYPES[annotation.campaign.task_type]
    with transaction.atomic():
        Annotation.objects.filter(pk=annotation.pk).update(answer=task_type.redact(annotation.answer), redacted_at=now)
        Assignment.objects.filter(annotation=annotation).update(draft={}, skip_note="")
        record(
            action="annotation_redact", subject=annotation, now=now, actor_id=actor_id,
            scope_id=annotation.campaign_id, reason=reason,
        )  # fmt: skip
