"""Manual checks: a share of each annotator's work is drawn and read by a person, with one keystroke per verdict."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from accounts.audit import record
from annotation.campaigns.selectors.sealing import unsealed
from annotation.models import ORDINARY, Annotation, AnnotationState, Campaign, CountedChange
from annotation.slots.ordering import seeded
from annotation.slots.services.exclusions import annotation_exclude
from database.transactions import durable, require_transaction
from quality.models import Inspection, InspectionTally, InspectionVerdict


def inspections_draw(*, campaign: Campaign, annotations: Sequence[Annotation], rate: float) -> int:
    """Draw a share of each annotator's counted work for manual checks, exact to one annotation; return the number.

    Systematic sampling with a random start: at a share of 0.2, exactly 1 of 5 submissions of a person is drawn, never
    none and never 3. Annotations that are examined again because their counted state changed are not drawn a second
    time.
    """
    require_transaction()
    counted = [
        row for row in annotations if row.state == AnnotationState.COUNTED and row.item.batch.purpose in ORDINARY
    ]
    sealed = set(campaign.splits.exclude(sealed_at=None).values_list("pk", flat=True))
    counted = [row for row in counted if row.item.split_id not in sealed]
    moved = CountedChange.objects.filter(
        annotation__in=counted, before__in=[AnnotationState.COUNTED, AnnotationState.EXCLUDED]
    )
    again = set(moved.values_list("annotation_id", flat=True))
    fresh = [row for row in counted if row.pk not in again]
    carries = _carries(campaign, {row.surrogate_id for row in fresh})
    drawn = []
    for row in fresh:
        carries[row.surrogate_id] += rate
        if carries[row.surrogate_id] >= 1:
            carries[row.surrogate_id] -= 1
            drawn.append(Inspection(campaign=campaign, annotation=row, because="sample"))
    Inspection.objects.bulk_create(drawn, ignore_conflicts=True)
    InspectionTally.objects.bulk_create(
        [InspectionTally(campaign=campaign, surrogate_id=key, carry=carry) for key, carry in carries.items()],
        update_conflicts=True,
        unique_fields=["campaign", "surrogate"],
        update_fields=["carry"],
    )
    return len(drawn)


def _carries(campaign: Campaign, surrogate_ids: set[UUID]) -> dict[UUID, float]:
    """Return each person's counter; new people start at a value drawn by the campaign's seed."""
    rows = InspectionTally.objects.filter(campaign=campaign, surrogate__in=surrogate_ids)
    known = dict(rows.values_list("surrogate_id", "carry"))
    return {key: known.get(key, seeded(campaign.seed, "inspect", key) / 2**64) for key in sorted(surrogate_ids)}


def inspections_waiting(*, campaign: Campaign) -> QuerySet[Inspection]:
    """Return the annotations that need a manual check."""
    return Inspection.objects.filter(unsealed("annotation__item"), campaign=campaign, verdict="")


def inspection_next(*, campaign: Campaign, after: int = 0) -> Inspection | None:
    """Return the next annotation that needs a manual check."""
    rows = (
        inspections_waiting(campaign=campaign)
        .filter(pk__gt=after)
        .select_related("annotation__item__tokenization__document", "annotation__campaign", "campaign")
    )
    return rows.order_by("pk").first()


@durable
def inspection_decide(
    *, inspection: Inspection, verdict: InspectionVerdict, exclude: bool, actor_id: UUID, now: datetime
) -> bool:
    """Save a manual check's verdict, optionally exclude the annotation; return whether the verdict is new."""
    done = Inspection.objects.filter(pk=inspection.pk, verdict="").update(
        verdict=verdict, inspected_by_id=actor_id, inspected_at=now
    )
    if done:
        record(
            action="inspection_decide",
            subject=inspection,
            now=now,
            actor_id=actor_id,
            scope_id=inspection.campaign_id,
            verdict=verdict,
            exclude=exclude,
        )
        if exclude:
            annotation_exclude(annotation=inspection.annotation, because="inspection", actor_id=actor_id, now=now)
    return bool(done)
