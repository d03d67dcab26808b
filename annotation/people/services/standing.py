"""Changes of people's standing in a campaign. Quality control decides why it changes."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F

from accounts.audit import record
from accounts.models import User
from annotation.models import Campaign, Injection, NotificationKind, Participation, Standing, StandingChange
from annotation.notifications.services import notify
from annotation.slots.services.participation_locks import people_lock
from database.statements import Update
from database.transactions import require_transaction
from jobs.events import event_add


def injections_scheduled(*, place: Participation, planned_to: int) -> None:
    """Record up to which item of an annotator injections are planned; the participation is locked."""
    require_transaction()
    place.planned_to = planned_to
    _PLANNED.run(place.pk, planned_to)


_PLANNED = Update(lambda pk, to: (Participation.objects.filter(pk=pk), {"planned_to": to}), int, int)


def injections_unscheduled(*, campaign: Campaign) -> None:
    """Have injections planned again for everyone, if the campaign has had none: they can begin with the next item."""
    require_transaction()
    if not Injection.objects.filter(campaign=campaign).exists():
        ahead = Participation.objects.filter(campaign=campaign, planned_to__gt=F("served"))
        ahead.update(planned_to=F("served"))


def standing_move(
    *, campaign: Campaign, surrogate_id: UUID, to: Standing, actor_id: UUID | None, now: datetime, **because: Any
) -> bool:
    """Change an annotator's standing and notify them; they can finish open items. Return whether it changed."""
    require_transaction()
    Participation.objects.get_or_create(campaign=campaign, surrogate_id=surrogate_id)
    [place] = people_lock(campaign_id=campaign.pk, surrogate_ids=[surrogate_id])
    if place.standing == to:
        return False
    Participation.objects.filter(pk=place.pk).update(standing=to)
    StandingChange.objects.create(
        campaign=campaign,
        surrogate_id=surrogate_id,
        before=place.standing,
        after=to,
        because=because,
        changed_by_id=actor_id,
        at=now,
    )
    record(action=f"standing_{to}", subject=place, now=now, actor_id=actor_id, scope_id=campaign.pk, **because)
    said = "reinstated" if to == Standing.ACTIVE else to
    event_add(kind=f"person.{said}", scope_id=campaign.pk, now=now, person=str(surrogate_id))
    notify(
        campaign=campaign,
        kind=NotificationKind.STANDING,
        users=User.objects.filter(surrogate_id=surrogate_id),
        now=now,
        standing=to,
        because=because,
    )
    return True
