"""Joining two surrogates that turn out to be one annotator: their work moves to one of the surrogates."""

from datetime import datetime
from uuid import UUID

from accounts.audit import record
from accounts.models import Surrogate
from accounts.selectors import agreed_since
from accounts.services import consents_join
from annotation.models import (
    Annotation,
    Assignment,
    AssignmentState,
    Campaign,
    Injection,
    ItemReport,
    Participation,
    SlotState,
    Standing,
    StandingChange,
)
from annotation.people.services.standing import standing_move
from annotation.people.services.withdrawal import withdrawal_cancel, withdrawal_of, work_unlink
from annotation.signals import participation_joined, standing_joined
from annotation.slots.services.bars import bars_join
from annotation.slots.services.counting import slots_release, submissions_adopt
from annotation.slots.services.participation_locks import participation_lock, people_lock
from database.transactions import require_transaction

# From the best to the worst: of two, an annotator keeps the worse.
_ORDER = (Standing.ACTIVE, Standing.WARNED, Standing.PAUSED, Standing.SUSPENDED)


def participation_join(*, campaign: Campaign, before: UUID, after: UUID, now: datetime) -> None:
    """Move the work of an unconfirmed visit to the person who made the visit.

    Work on items that this person had already done does not count, and is unlinked at once: if the person leaves, none
    of their work may remain under another surrogate. Assignments of the visit are released.
    """
    require_transaction()
    people_lock(campaign_id=campaign.pk, surrogate_ids=[before, after])
    mine = Assignment.objects.filter(campaign=campaign, surrogate_id=before)
    held = mine.select_for_update(no_key=True).filter(state__in=[AssignmentState.LIVE, AssignmentState.RESERVED])
    slot_ids = list(held.order_by("pk").values_list("slot_id", flat=True))
    held.update(state=AssignmentState.RELEASED, ended_at=now)
    there = participation_lock(campaign_id=campaign.pk, surrogate_id=after)
    twice = submissions_adopt(campaign_id=campaign.pk, before=before, after=after, now=now)
    slots_release(slot_ids=slot_ids)
    mine.exclude(annotation__in=twice).update(surrogate_id=after)
    gold = Injection.objects.filter(campaign=campaign, surrogate_id=before, slot__state=SlotState.FILLED)
    gold.exclude(slot__annotations__in=twice).update(surrogate_id=after)
    ItemReport.objects.filter(item__campaign=campaign, surrogate_id=before).update(surrogate_id=after)
    bars_join(campaign_id=campaign.pk, before=before, after=after)
    asked = withdrawal_of(campaign=campaign, surrogate_id=after)
    if asked and agreed_since(scope_id=campaign.pk, surrogate_id=before, at=asked.asked_at):
        withdrawal_cancel(campaign=campaign, surrogate_id=after, now=now)  # they came back
    consents_join(scope_id=campaign.pk, before=before, after=after)
    if mine.exists():  # what the person had done already
        work_unlink(campaign=campaign, before=before, after=Surrogate.objects.create().pk)
    _training_join(campaign, before, there)
    standing_join(campaign=campaign, before=before, after=after, now=now)
    participation_joined.send(sender=Participation, campaign=campaign, before=before, after=after)
    record(action="participation_join", subject=there, now=now, actor_id=None, scope_id=campaign.pk, twice=len(twice))


def standing_join(*, campaign: Campaign, before: UUID, after: UUID, now: datetime) -> None:
    """Give a person the standing of their visit if it is the worse one, with its reason and who changed it.

    Receivers of `standing_joined` move reviews and withheld pay. The caller has locked both participations.
    """
    require_transaction()
    here = Participation.objects.filter(campaign=campaign, surrogate_id=before).first()
    if here is None:
        return
    known = Participation.objects.filter(campaign=campaign, surrogate_id=after).values_list("standing", flat=True)
    if _ORDER.index(Standing(here.standing)) > _ORDER.index(Standing(known.first() or Standing.ACTIVE)):
        changes = StandingChange.objects.filter(campaign=campaign, surrogate_id=before, after=here.standing)
        last = changes.order_by("-pk").first()
        standing_move(
            campaign=campaign,
            surrogate_id=after,
            to=Standing(here.standing),
            now=now,
            actor_id=last.changed_by_id if last else None,
            **(last.because if last else {}),
        )
    elif here.standing == Standing.ACTIVE:
        _reinstatement_join(campaign, before, after)
    Participation.objects.filter(pk=here.pk).update(standing=Standing.ACTIVE)
    standing_joined.send(sender=Participation, campaign=campaign, before=before, after=after, now=now)
    if not Annotation.objects.filter(campaign=campaign, surrogate_id=before).exists():
        here.delete()


def _reinstatement_join(campaign: Campaign, before: UUID, after: UUID) -> None:
    """Copy a manager's reinstatement of a visit to its person, if that person is active."""
    changes = StandingChange.objects.filter(campaign=campaign, surrogate_id=before, after=Standing.ACTIVE)
    last = changes.filter(changed_by__isnull=False).order_by("-pk").first()
    active = Participation.objects.filter(campaign=campaign, surrogate_id=after, standing=Standing.ACTIVE)
    if last is not None and active.exists():
        StandingChange.objects.create(
            campaign=campaign,
            surrogate_id=after,
            before=last.before,
            after=last.after,
            because=last.because,
            changed_by_id=last.changed_by_id,
            at=last.at,
        )


def _training_join(campaign: Campaign, before: UUID, there: Participation) -> None:
    """Copy the training of a visit to its person, unless the person has completed it."""
    here = Participation.objects.filter(campaign=campaign, surrogate_id=before).first()
    if here is not None and here.trained_at and not there.trained_at:
        Participation.objects.filter(pk=there.pk).update(trained=here.trained, trained_at=here.trained_at)
