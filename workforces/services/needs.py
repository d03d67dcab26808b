"""How many annotations a campaign still needs, and whether its cap lets us ask for more."""

from datetime import datetime

from django.db import transaction

from accounts.audit import record
from annotation.models import BatchState, CampaignState, ItemState, Purpose, Slot, SlotState
from workforces.models import Workforce

WORKED = [Purpose.WORK, Purpose.STUDY, Purpose.PILOT, Purpose.REVIEW]  # gold is assigned beside them


def open_slots(workforce: Workforce, *, most: int) -> int:
    """Return the number of open slots, counted up to a maximum."""
    campaign = workforce.campaign
    if not workforce.is_active or campaign.state != CampaignState.OPEN:
        return 0
    slots = Slot.objects.filter(
        campaign=campaign,
        state=SlotState.OPEN,
        item__batch__state=BatchState.OPEN,
        item__state=ItemState.ACTIVE,
        item__batch__purpose__in=WORKED,
    )
    return len(slots.values_list("pk", flat=True)[:most])


def spending_note(workforce: Workforce, *, is_stopped: bool, now: datetime) -> None:
    """Record whether the cap prevents new postings. Existing postings can be finished and are paid."""
    with transaction.atomic():
        changed = Workforce.objects.filter(pk=workforce.pk).exclude(spent_stop=is_stopped).update(spent_stop=is_stopped)
        if changed:
            record(
                action="workforce_cap",
                subject=workforce,
                now=now,
                actor_id=None,
                scope_id=workforce.campaign_id,
                is_stopped=is_stopped,
            )
