"""Withdrawing consent: the work is unlinked from the person and leaves later releases."""

from datetime import datetime
from uuid import UUID

from accounts.audit import record
from accounts.models import Membership, Role, Surrogate
from accounts.services import consent_withdraw
from accounts.transactions import durable
from annotation.models import (
    Annotation,
    Assignment,
    AssignmentState,
    Campaign,
    EventChunk,
    Injection,
    ItemReport,
    Participation,
    Standing,
    StandingChange,
)
from annotation.services.claims import participation_lock
from annotation.services.counting import slots_release, submissions_withdraw
from annotation.signals import participation_withdrawn
from annotation.tasktypes.registry import TASK_TYPES


@durable
def participation_withdraw(*, campaign: Campaign, surrogate_id: UUID, now: datetime) -> int:
    """Withdraw an annotator from a campaign and return how many annotations were unlinked.

    What they did stays, under a fresh surrogate that nothing leads to, not counted; its slots reopen.
    Their click logs are deleted. Releases that exist already are not changed.
    """
    participation_lock(campaign_id=campaign.pk, surrogate_id=surrogate_id)
    # Written to the day alone where it stands with the work: the exact moment would lead back to the consent.
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    consent_withdraw(scope_id=campaign.pk, surrogate_id=surrogate_id, now=now)
    mine = Assignment.objects.filter(campaign=campaign, surrogate_id=surrogate_id)
    held = mine.select_for_update(no_key=True).filter(state__in=[AssignmentState.LIVE, AssignmentState.RESERVED])
    slot_ids = list(held.order_by("pk").values_list("slot_id", flat=True))
    held.update(state=AssignmentState.RELEASED, ended_at=day, draft={})
    submissions_withdraw(campaign_id=campaign.pk, surrogate_id=surrogate_id, now=day)
    slots_release(slot_ids=slot_ids)
    nobody = Surrogate.objects.create()
    annotations = Annotation.objects.filter(campaign=campaign, surrogate_id=surrogate_id)
    unlinked = annotations.update(surrogate=nobody)
    EventChunk.objects.filter(assignment__in=mine).delete()
    mine.update(surrogate=nobody)
    Injection.objects.filter(campaign=campaign, surrogate_id=surrogate_id).update(surrogate=nobody)
    participation_withdrawn.send(sender=Participation, campaign=campaign, before=surrogate_id, after=nobody.pk)
    # Reports get a surrogate of their own: they must not be a way back to the annotations.
    reports = ItemReport.objects.filter(item__campaign=campaign, surrogate_id=surrogate_id)
    reports.update(surrogate=Surrogate.objects.create())
    _place_leave(campaign, surrogate_id)
    Membership.objects.filter(scope_id=campaign.pk, user__surrogate_id=surrogate_id, role=Role.ANNOTATOR).delete()
    # Names neither the person nor the annotations: the trail must not be the link that was just cut.
    record(action="work_unlink", subject=campaign, now=now, actor_id=None, scope_id=campaign.pk, count=unlinked)
    return unlinked


def _place_leave(campaign: Campaign, surrogate_id: UUID) -> None:
    """Delete an annotator's place and how their standing changed; leaving does not lift a warning, pause or suspension."""
    place = Participation.objects.filter(campaign=campaign, surrogate_id=surrogate_id)
    if place.filter(standing=Standing.ACTIVE).delete()[0]:
        StandingChange.objects.filter(campaign=campaign, surrogate_id=surrogate_id).delete()
    place.update(cursor=0)


@durable
def annotation_redact(*, annotation: Annotation, actor_id: UUID, reason: str, now: datetime) -> None:
    """Remove what was typed freely from one annotation: the only change that the database lets through."""
    task_type = TASK_TYPES[annotation.campaign.task_type]
    Annotation.objects.filter(pk=annotation.pk).update(answer=task_type.redact(annotation.answer), redacted_at=now)
    Assignment.objects.filter(annotation=annotation).update(draft={}, skip_note="")
    record(
        action="annotation_redact", subject=annotation, now=now, actor_id=actor_id,
        scope_id=annotation.campaign_id, reason=reason,
    )  # fmt: skip
