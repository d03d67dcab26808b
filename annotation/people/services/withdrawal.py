"""Withdrawing consent: the work is unlinked from the person and excluded from later releases.

The request ends the work at once. The irreversible part waits for seven days: people who asked by mistake,
or whose request was made by another person, can take it back until then.
"""

from datetime import datetime, timedelta
from uuid import UUID

from accounts.audit import record
from accounts.models import Role, Surrogate
from accounts.services import consent_give, consent_restore, consent_withdraw, role_end
from annotation.models import (
    Annotation,
    Assignment,
    AssignmentState,
    Campaign,
    EventChunk,
    EventTally,
    Injection,
    ItemBar,
    ItemReport,
    Participation,
    Snapshot,
    Standing,
    StandingChange,
    Withdrawal,
)
from annotation.signals import participation_withdrawn
from annotation.slots.services.counting import slots_release, submissions_withdraw
from annotation.slots.services.participation_locks import participation_lock, people_lock
from annotation.tasktypes.registry import TASK_TYPES
from database.transactions import durable, require_transaction

GRACE = timedelta(days=7)
MOST_APPLIED = 100  # withdrawals a sweep


@durable
def withdrawal_ask(*, campaign: Campaign, surrogate_id: UUID, now: datetime) -> Withdrawal:
    """Withdraw an annotator's consent and record when to unlink their work; asking again changes nothing."""
    participation_lock(campaign_id=campaign.pk, surrogate_id=surrogate_id)
    asked, is_new = Withdrawal.objects.get_or_create(
        campaign=campaign, surrogate_id=surrogate_id, defaults={"asked_at": now, "due_at": now + GRACE}
    )
    if is_new:
        # The drafts stay until it takes effect: who comes back goes on, and a judgment that was frozen still is.
        slots_release(slot_ids=_held_end(campaign, surrogate_id, ended_at=now))
        consent_withdraw(scope_id=campaign.pk, surrogate_id=surrogate_id, now=now)
    return asked


@durable
def withdrawal_undo(*, campaign: Campaign, surrogate_id: UUID, now: datetime) -> bool:
    """Cancel a withdrawal before it takes effect and restore the consent. Return whether there was one."""
    participation_lock(campaign_id=campaign.pk, surrogate_id=surrogate_id)
    return withdrawal_cancel(campaign=campaign, surrogate_id=surrogate_id, now=now)


def withdrawal_cancel(*, campaign: Campaign, surrogate_id: UUID, now: datetime) -> bool:
    """Undo a withdrawal request and its effect on consent; the caller holds the lock. Return whether there was one."""
    require_transaction()
    asked = withdrawal_of(campaign=campaign, surrogate_id=surrogate_id)
    if asked is None:
        return False
    consent_restore(scope_id=campaign.pk, surrogate_id=surrogate_id, withdrawn_at=asked.asked_at, now=now)
    asked.delete()
    return True


@durable
def participation_consent(*, campaign: Campaign, text_id: int, surrogate_id: UUID, now: datetime) -> None:
    """Record an annotator's consent, which also cancels an earlier withdrawal request."""
    people_lock(campaign_id=campaign.pk, surrogate_ids=[surrogate_id])
    withdrawal_cancel(campaign=campaign, surrogate_id=surrogate_id, now=now)
    consent_give(text_id=text_id, surrogate_id=surrogate_id, now=now)


def withdrawal_of(*, campaign: Campaign, surrogate_id: UUID) -> Withdrawal | None:
    """Return an annotator's withdrawal that has not taken effect yet."""
    return Withdrawal.objects.filter(campaign=campaign, surrogate_id=surrogate_id).first()


def withdrawals_apply(now: datetime) -> int:
    """Unlink the work of people whose seven days have passed; return how many people left."""
    due = Withdrawal.objects.filter(due_at__lte=now).select_related("campaign").order_by("due_at", "pk")
    people = list(due[:MOST_APPLIED])
    return sum(_apply(asked, now) for asked in people)


@durable
def _apply(asked: Withdrawal, now: datetime) -> bool:
    """Unlink one annotator's work, unless they took their withdrawal back a moment ago."""
    participation_lock(campaign_id=asked.campaign_id, surrogate_id=asked.surrogate_id)
    if not Withdrawal.objects.filter(pk=asked.pk, due_at__lte=now).exists():
        return False
    participation_withdraw(campaign=asked.campaign, surrogate_id=asked.surrogate_id, now=now)
    return True


@durable
def participation_withdraw(*, campaign: Campaign, surrogate_id: UUID, now: datetime) -> int:
    """Withdraw an annotator from a campaign and return how many annotations were unlinked.

    Their work stays, not counted, under a new surrogate that isn't linked to them; its slots reopen.
    Their click logs are deleted. Releases that exist already are not changed.
    """
    participation_lock(campaign_id=campaign.pk, surrogate_id=surrogate_id)
    # Written to the day alone where it stands with the work: the exact moment would lead back to the consent.
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    consent_withdraw(scope_id=campaign.pk, surrogate_id=surrogate_id, now=now)
    Withdrawal.objects.filter(campaign=campaign, surrogate_id=surrogate_id).delete()
    slot_ids = _held_end(campaign, surrogate_id, ended_at=day)
    submissions_withdraw(campaign_id=campaign.pk, surrogate_id=surrogate_id, now=day)
    slots_release(slot_ids=slot_ids)
    mine = Assignment.objects.filter(campaign=campaign, surrogate_id=surrogate_id)
    mine.filter(annotation=None).update(draft={})
    nobody = Surrogate.objects.create()
    unlinked = work_unlink(campaign=campaign, before=surrogate_id, after=nobody.pk)
    Snapshot.objects.filter(campaign=campaign).delete()  # its numbers name people; they are computed again
    participation_withdrawn.send(sender=Participation, campaign=campaign, before=surrogate_id, after=nobody.pk)
    # Reports get a surrogate of their own: they must not be a way back to the annotations.
    reports = ItemReport.objects.filter(item__campaign=campaign, surrogate_id=surrogate_id)
    reports.update(surrogate=Surrogate.objects.create())
    _place_leave(campaign, surrogate_id)
    role_end(scope_id=campaign.pk, surrogate_id=surrogate_id, role=Role.ANNOTATOR, now=now)
    # Names neither the person nor the annotations: the trail must not be the link that was just cut.
    record(action="work_unlink", subject=campaign, now=now, actor_id=None, scope_id=campaign.pk, count=unlinked)
    return unlinked


def work_unlink(*, campaign: Campaign, before: UUID, after: UUID) -> int:
    """Move work to a new, unlinked surrogate, without its click log; return how many annotations moved."""
    require_transaction()
    mine = Assignment.objects.filter(campaign=campaign, surrogate_id=before)
    EventChunk.objects.filter(assignment__in=mine).delete()
    EventTally.objects.filter(assignment__in=mine).delete()
    unlinked = Annotation.objects.filter(campaign=campaign, surrogate_id=before).update(surrogate_id=after)
    mine.update(surrogate_id=after)
    Injection.objects.filter(campaign=campaign, surrogate_id=before).update(surrogate_id=after)
    ItemBar.objects.filter(item__campaign=campaign, surrogate_id=before).delete()  # they would lead back to the work
    return unlinked


def _held_end(campaign: Campaign, surrogate_id: UUID, *, ended_at: datetime) -> list[int]:
    """End an annotator's assignments; return their slots."""
    mine = Assignment.objects.filter(campaign=campaign, surrogate_id=surrogate_id)
    held = mine.select_for_update(no_key=True).filter(state__in=[AssignmentState.LIVE, AssignmentState.RESERVED])
    slot_ids = list(held.order_by("pk").values_list("slot_id", flat=True))
    held.update(state=AssignmentState.RELEASED, ended_at=ended_at)
    mine.filter(state=AssignmentState.EXPIRED).update(state=AssignmentState.RELEASED)
    return slot_ids


def _place_leave(campaign: Campaign, surrogate_id: UUID) -> None:
    """Delete an active participation and its standing changes; a warning, pause or suspension stays in force."""
    place = Participation.objects.filter(campaign=campaign, surrogate_id=surrogate_id)
    if place.filter(standing=Standing.ACTIVE).delete()[0]:
        StandingChange.objects.filter(campaign=campaign, surrogate_id=surrogate_id).delete()
    place.update(cursor=0)


@durable
def annotation_redact(*, annotation: Annotation, actor_id: UUID, reason: str, now: datetime) -> None:
    """Remove free text from one annotation: the only change of an answer that the database allows."""
    task_type = TASK_TYPES[annotation.campaign.task_type]
    Annotation.objects.filter(pk=annotation.pk).update(answer=task_type.redact(annotation.answer), redacted_at=now)
    Assignment.objects.filter(annotation=annotation).update(draft={}, skip_note="")
    record(
        action="annotation_redact",
        subject=annotation,
        now=now,
        actor_id=actor_id,
        scope_id=annotation.campaign_id,
        reason=reason,
    )
