"""Taking back consent: the work is unlinked from the person and leaves later releases."""

from datetime import datetime
from uuid import UUID

from django.db import transaction

from accounts.audit import record
from accounts.models import Surrogate
from accounts.services import consent_withdraw
from annotation.models import Annotation, Assignment, AssignmentState, Campaign, EventChunk, ItemReport, Participation
from annotation.services.work import slot_reopen
from annotation.tasktypes.registry import TASK_TYPES


def participation_withdraw(*, campaign: Campaign, surrogate_id: UUID, now: datetime) -> int:
    """Withdraw somebody from a campaign and return how many annotations were unlinked.

    What they did stays, under a fresh surrogate that nothing leads to, not counted; its slots reopen.
    Their click logs are deleted. Releases that exist already are not changed.
    """
    with transaction.atomic():
        consent_withdraw(scope_id=campaign.pk, surrogate_id=surrogate_id, now=now)
        mine = Assignment.objects.filter(campaign=campaign, surrogate_id=surrogate_id)
        for assignment in mine.filter(state__in=[AssignmentState.LIVE, AssignmentState.RESERVED]):
            mine.filter(pk=assignment.pk).update(state=AssignmentState.RELEASED, ended_at=now, draft={})
            slot_reopen(slot_id=assignment.slot_id)
        annotations = Annotation.objects.filter(campaign=campaign, surrogate_id=surrogate_id)
        for slot_id in list(annotations.filter(counted=True).values_list("slot_id", flat=True)):
            slot_reopen(slot_id=slot_id)
        annotations.filter(counted=True).update(counted=False, not_counted_because="withdrawn")
        nobody = Surrogate.objects.create()
        unlinked = annotations.update(surrogate=nobody)
        EventChunk.objects.filter(assignment__in=mine).delete()
        mine.update(surrogate=nobody)
        ItemReport.objects.filter(item__campaign=campaign, surrogate_id=surrogate_id).update(surrogate=nobody)
        Participation.objects.filter(campaign=campaign, surrogate_id=surrogate_id).delete()
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
