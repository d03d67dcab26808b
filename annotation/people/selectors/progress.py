"""Annotators' progress: completed work, remaining work, and the time needed at the campaign's median pace."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import QuerySet
from django.utils import timezone

from annotation.models import (
    AnnotationState,
    Assignment,
    AssignmentState,
    Campaign,
    CampaignState,
    Participation,
    Snapshot,
    Standing,
    Withdrawal,
)
from annotation.questions.selectors import answers_unread
from database.statements import Statement


@dataclass(frozen=True, slots=True)
class Progress:
    """An annotator's progress in a campaign; ``open`` counts annotations open to anyone, None if not known yet.

    ``answers`` counts the answers to their questions that they haven't read.

    ``items`` is the number of items; nobody answers an item twice. ``item_seconds`` is the median time of an
    item in the campaign, all stages together; 0 if there is none yet.
    """

    campaign: Campaign
    submitted: int
    open: int | None
    standing: str
    items: int = 0
    item_seconds: float = 0
    answers: int = 0
    skipped: int = 0  # items that they gave to others for good
    leaves_on: datetime | None = None  # they asked to leave; until then they can take it back

    @property
    def is_stopped(self) -> bool:
        """Whether they get no new work because they are paused or suspended."""
        return self.standing in (Standing.PAUSED, Standing.SUSPENDED)

    @property
    def is_warned(self) -> bool:
        """Whether they have a warning to read."""
        return self.standing == Standing.WARNED

    @property
    def left(self) -> int | None:
        """The most items that they may still answer, limited by open annotations, items and their quota."""
        if self.open is None:
            return None
        most = self.items if self.campaign.quota is None else min(self.items, self.campaign.quota)
        return min(self.open, max(0, most - self.submitted), max(0, self.items - self.submitted - self.skipped))

    @property
    def seconds_left(self) -> float:
        """The time needed for the remaining items, in seconds; 0 if not known."""
        return (self.left or 0) * self.item_seconds

    @property
    def can_begin(self) -> bool:
        """Whether there is work for them here."""
        is_open = self.campaign.state == CampaignState.OPEN and self.leaves_on is None
        return is_open and not self.is_stopped and self.left != 0


def progress_of(campaigns: Sequence[Campaign], surrogate_id: UUID) -> list[Progress]:
    """Return a person's progress in each of several campaigns, in five statements for any number of campaigns."""
    places = {
        row.campaign_id: row for row in Participation.objects.filter(campaign__in=campaigns, surrogate=surrogate_id)
    }
    names = ("data__slots", "data__splits", "data__stage_median_seconds", "data__pilot")
    kept = {
        row.pop("campaign_id"): row
        for row in Snapshot.objects.filter(campaign__in=campaigns).values("campaign_id", *names)
    }
    answers = Counter(answers_unread(campaigns, surrogate_id).values_list("item__campaign", flat=True))
    own = Assignment.objects.filter(campaign__in=campaigns, surrogate_id=surrogate_id, state=AssignmentState.SKIPPED)
    skipped = Counter(campaign for campaign, _item in own.values_list("campaign", "item").distinct())
    asked = Withdrawal.objects.filter(campaign__in=campaigns, surrogate_id=surrogate_id)
    leaving = dict(asked.values_list("campaign", "due_at"))
    return [
        replace(
            _progress(campaign, places.get(campaign.pk), kept.get(campaign.pk)),
            answers=answers[campaign.pk],
            skipped=skipped[campaign.pk],
            leaves_on=leaving.get(campaign.pk),
        )
        for campaign in campaigns
    ]


def _progress(campaign: Campaign, place: Participation | None, kept: Mapping[str, Any] | None) -> Progress:
    submitted = place.submitted if place else 0
    standing = place.standing if place else Standing.ACTIVE
    if kept is None:
        return Progress(campaign, submitted, None, standing)
    slots, splits, seconds, pilot = kept.values()
    pilot = pilot or {"items": 0, "open": 0}  # numbers of an earlier version
    launched = sum(split["items"] for split in splits) if slots else 0
    items, left = launched + pilot["items"], slots.get("open", 0) + pilot["open"]
    return Progress(campaign, submitted, left, standing, items, sum(seconds.values()))


def _submitted_query(campaign_id: UUID, surrogate_id: UUID) -> QuerySet[Participation, tuple[int]]:
    return Participation.objects.filter(campaign_id=campaign_id, surrogate_id=surrogate_id).values_list("submitted")


_SUBMITTED = Statement(_submitted_query, UUID, UUID)


def submitted_of(campaign: Campaign, surrogate_id: UUID) -> int:
    """Return how many items a person submitted in a campaign, those that they took back left out."""
    return next((count for (count,) in _SUBMITTED.rows(campaign.pk, surrogate_id)), 0)


MOST_TODAY = 1_000  # are counted


def submitted_today(campaign: Campaign, surrogate_id: UUID, now: datetime) -> int:
    """Return how many items a person submitted since midnight in the campaign's time zone, up to a thousand."""
    midnight = timezone.localtime(now, ZoneInfo(campaign.time_zone)).replace(hour=0, minute=0, second=0, microsecond=0)
    own = campaign.annotations.filter(surrogate_id=surrogate_id, submitted_at__gte=midnight)
    own = own.exclude(state=AnnotationState.UNDONE).order_by("-pk")[:MOST_TODAY]
    return len(own.values_list("pk", flat=True))
