"""Annotators' progress: completed work, remaining work, and the time needed at the campaign's median pace."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Count, F, OuterRef, QuerySet, Subquery
from django.utils import timezone

from annotation.models import (
    Annotation,
    AnnotationState,
    Assignment,
    AssignmentState,
    Campaign,
    CampaignState,
    Injection,
    Item,
    Participation,
    Purpose,
    SlotState,
    Snapshot,
    Standing,
    Withdrawal,
)
from annotation.questions.selectors import answers_unread
from database.statements import Statement


@dataclass(frozen=True, slots=True)
class Progress:
    """An annotator's progress in a campaign.

    ``open`` counts annotations open to anyone, None if not known yet; ``open_items`` counts their items.
    ``answers`` counts the answers to their questions that they haven't read.

    ``items`` is the number of items, those of a finished pilot only where they answered them; nobody answers an item twice.
    ``item_seconds`` is the median time of an
    item in the campaign, all stages together; 0 if there is none yet.

    People also answer injections, which ``items`` leaves out and ``submitted`` counts. ``injected`` of theirs are
    answered, and the campaign has ``injected_share`` of them for each other answer.
    """

    campaign: Campaign
    submitted: int
    open: int | None
    standing: str
    items: int = 0
    open_items: int = 0
    item_seconds: float = 0
    answers: int = 0
    skipped: int = 0  # items that they gave to others for good
    skipped_injections: int = 0  # among them
    injected: int = 0
    injected_share: float = 0
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
    def is_through(self) -> bool:
        """Whether they answered or skipped every item."""
        return self.submitted - self.injected + self.skipped - self.skipped_injections >= self.items

    @property
    def left(self) -> int | None:
        """About how many items they may still answer, limited by open items, all items and their quota.

        Their own injections don't change the estimate: by comparing it before and after an answer, people could learn
        which items are injections.
        """
        quota_left = self.open if self.campaign.quota is None else self.campaign.quota - self.submitted
        if self.open is None or quota_left is None:
            return None
        if self.is_through or min(self.open, quota_left) <= 0:
            return 0
        grown = 1 + self.injected_share
        own = round((self.items - self.skipped) * grown) - self.submitted
        most = round(min(self.open, self.open_items) * grown)
        return max(1, min(most, own) if self.campaign.quota is None else min(most, own, quota_left))

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
    injections = Injection.objects.filter(campaign=OuterRef("campaign"), surrogate=surrogate_id)
    filled = injections.filter(slot__state=SlotState.FILLED).order_by()
    answered = Subquery(filled.values("campaign").annotate(n=Count("pk")).values("n"))
    pilots = Item.objects.filter(campaign=OuterRef(OuterRef("campaign")), batch__purpose=Purpose.PILOT)
    own_pilots = Annotation.objects.filter(surrogate=surrogate_id, item__in=pilots.values("pk"))
    own_pilots = own_pilots.exclude(state=AnnotationState.UNDONE).order_by()
    piloted = Subquery(own_pilots.values("campaign").annotate(n=Count("pk")).values("n"))
    own_places = Participation.objects.filter(campaign__in=campaigns, surrogate=surrogate_id)
    own_places = own_places.annotate(injected=answered, piloted=piloted)
    rows = own_places.values("campaign_id", "submitted", "standing", "injected", "piloted")
    places = {row["campaign_id"]: row for row in rows}
    names = ("data__slots", "data__splits", "data__stage_median_seconds", "data__pilot", "data__injected_share")
    kept = {
        row.pop("campaign_id"): row
        for row in Snapshot.objects.filter(campaign__in=campaigns).values("campaign_id", *names)
    }
    answers = Counter(answers_unread(campaigns, surrogate_id).values_list("item__campaign", flat=True))
    own = Assignment.objects.filter(campaign__in=campaigns, surrogate_id=surrogate_id, state=AssignmentState.SKIPPED)
    given_up = own.annotate(injection=F("slot__injection")).values_list("campaign", "item", "injection").distinct()
    skipped = Counter(campaign for campaign, _item, _injection in given_up)
    skipped_injections = Counter(campaign for campaign, _item, injection in given_up if injection)
    asked = Withdrawal.objects.filter(campaign__in=campaigns, surrogate_id=surrogate_id)
    leaving = dict(asked.values_list("campaign", "due_at"))
    return [
        replace(
            _progress(campaign, places.get(campaign.pk), kept.get(campaign.pk)),
            answers=answers[campaign.pk],
            skipped=skipped[campaign.pk],
            skipped_injections=skipped_injections[campaign.pk],
            leaves_on=leaving.get(campaign.pk),
        )
        for campaign in campaigns
    ]


def _progress(campaign: Campaign, place: Mapping[str, Any] | None, kept: Mapping[str, Any] | None) -> Progress:
    own = place or {"submitted": 0, "standing": Standing.ACTIVE, "injected": 0, "piloted": 0}
    found = Progress(campaign, own["submitted"], None, own["standing"], injected=own["injected"] or 0)
    if kept is None:
        return found
    slots, splits, seconds, pilot, injected_share = kept.values()
    pilot = pilot or {"items": 0, "open": 0}  # numbers of an earlier version
    launched = sum(split["items"] - split.get("drafts", 0) for split in splits)
    return replace(
        found,
        open=slots.get("open", 0) + pilot["open"],
        items=launched + (pilot["items"] if pilot["open"] else own["piloted"] or 0),
        open_items=sum(split.get("incomplete", split["items"]) for split in splits)
        + min(pilot["open"], pilot["items"]),
        item_seconds=sum(seconds.values()),
        injected_share=injected_share or 0,
    )


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
