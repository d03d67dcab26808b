"""Manual checks: what was drawn is read by a person, one key a verdict."""

from datetime import datetime
from uuid import UUID

from accounts.audit import record
from accounts.transactions import durable
from annotation.models import Campaign
from annotation.services.exclusions import annotation_exclude
from quality.models import Inspection, InspectionVerdict


def inspection_next(*, campaign: Campaign, after: int = 0) -> Inspection | None:
    """Return the next annotation that waits to be read."""
    waiting = Inspection.objects.filter(campaign=campaign, verdict="", pk__gt=after)
    rows = waiting.select_related("annotation__item__tokenization__document", "annotation__campaign", "campaign")
    return rows.order_by("pk").first()


@durable
def inspection_decide(
    *, inspection: Inspection, verdict: InspectionVerdict, exclude: bool, actor_id: UUID, now: datetime
) -> bool:
    """Record what a manual check found, and on request take the annotation out of the votes; return if it was new."""
    done = Inspection.objects.filter(pk=inspection.pk, verdict="").update(
        verdict=verdict, inspected_by_id=actor_id, inspected_at=now
    )
    if done:
        record(
            action="inspection_decide", subject=inspection, now=now, actor_id=actor_id,
            scope_id=inspection.campaign_id, verdict=verdict, exclude=exclude,
        )  # fmt: skip
        if exclude:
            annotation_exclude(annotation=inspection.annotation, because="inspection", actor_id=actor_id, now=now)
    return bool(done)
