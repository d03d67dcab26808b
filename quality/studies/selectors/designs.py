"""The requirements of a study with many annotations per item, and obstacles to it, known before it begins."""

import statistics
from collections import Counter
from dataclasses import dataclass
from uuid import UUID

from accounts.models import Membership, Role
from annotation.items.selectors import items_drawn
from annotation.models import (
    BLOCKING,
    ORDINARY,
    Assignment,
    BatchState,
    Campaign,
    CampaignState,
    Item,
    ItemState,
    Participation,
    Slot,
    SlotState,
    Snapshot,
    Split,
    Standing,
)
from quality.studies.selectors.studies import REFERENCES, StudyError, extractive
from workforces.kinds.registry import KINDS
from workforces.selectors import answer_cents

CHUNK = 5_000  # items asked for at once


@dataclass(frozen=True, slots=True)
class StudyDesign:
    """The design of a study: ``ways`` annotations for each of ``sample`` items of a split; experts judge some."""

    split: str
    ways: int
    sample: int
    seed: int
    experts: int


@dataclass(frozen=True, slots=True)
class StudyNeeds:
    """The requirements of a study."""

    is_closed: bool
    items: int  # that were drawn
    unlaunched: int  # items of the split that are in a batch that is not launched, and so cannot be drawn
    others: int  # items outside the draw that want as many annotations already
    annotations: int  # more of them
    people: int  # who may be handed items now
    needed: int  # further people of the item that lacks most
    short: int  # how many of those there are not
    from_outside: bool  # whether further people can come by a workforce
    cents: float  # that the further annotations cost, fees included
    seconds: float | None  # that half of the annotators take at most for an item
    experts: int  # there are


def study_needs(campaign: Campaign, design: StudyDesign) -> StudyNeeds:
    """Return the requirements of a study. Its cost grows with the split, so use it only in jobs."""
    extractive(campaign)
    split = Split.objects.get(campaign=campaign, name=design.split)
    drawn = items_drawn(split=split, sample=design.sample, seed=design.seed)
    ordinary = Item.objects.filter(campaign=campaign, state=ItemState.ACTIVE, batch__purpose__in=ORDINARY)
    wanting = set(ordinary.filter(n__gte=design.ways).values_list("pk", flat=True))
    people = _people(campaign)
    lacking, further = _lacking(drawn, design.ways), _further(drawn, people)
    annotations = sum(max(0, design.ways - n) for n in _asked(drawn))
    worst = max(drawn, key=lambda item: lacking[item] - further[item], default=None)
    return StudyNeeds(
        is_closed=campaign.state == CampaignState.CLOSED,
        items=len(drawn),
        unlaunched=ordinary.filter(split=split).exclude(batch__state=BatchState.OPEN).count(),
        others=len(wanting.difference(drawn)),
        annotations=annotations,
        people=len(people),
        needed=lacking[worst] if worst is not None else 0,
        short=max(0, lacking[worst] - further[worst]) if worst is not None else 0,
        from_outside=any(KINDS[row.kind].door for row in campaign.workforces.filter(is_active=True)),
        cents=annotations * answer_cents(campaign),
        seconds=_seconds(campaign),
        experts=Membership.objects.filter(scope_id=campaign.pk, role=Role.EXPERT).count(),
    )


def obstacles_of(design: StudyDesign, needs: StudyNeeds) -> list[StudyError]:
    """Return the reasons why a study isn't possible."""
    found = []
    if needs.is_closed:
        found.append(StudyError("study_closed"))
    if design.ways <= REFERENCES:
        found.append(StudyError("study_references", references=REFERENCES))
    if needs.items < design.sample:
        found.append(StudyError("study_sample", items=needs.items, sample=design.sample))
    if needs.others:
        found.append(StudyError("study_others", others=needs.others))
    if needs.short and not needs.from_outside:
        there = needs.needed - needs.short
        found.append(StudyError("study_people", needed=needs.needed, there=there, short=needs.short))
    if needs.experts < design.experts:
        found.append(StudyError("study_experts", asked=design.experts, there=needs.experts))
    return found


def _people(campaign: Campaign) -> set[UUID]:
    """Return the members who can get items now: annotators who aren't stopped and haven't reached the quota."""
    members = Membership.objects.filter(scope_id=campaign.pk, role=Role.ANNOTATOR)
    places = Participation.objects.filter(campaign=campaign)
    stopped = set(
        places.filter(standing__in=[Standing.PAUSED, Standing.SUSPENDED]).values_list("surrogate_id", flat=True)
    )
    if campaign.quota is not None:
        stopped |= set(places.filter(submitted__gte=campaign.quota).values_list("surrogate_id", flat=True))
    return set(members.values_list("user__surrogate_id", flat=True)) - stopped


def _asked(drawn: list[int]) -> list[int]:
    """Return the number of annotations that each drawn item wants now."""
    return [n for part in _parts(drawn) for n in Item.objects.filter(pk__in=part).values_list("n", flat=True)]


def _lacking(drawn: list[int], ways: int) -> Counter[int]:
    """Return for each drawn item how many of the ``ways`` annotations are neither submitted nor in progress."""
    found = Counter(dict.fromkeys(drawn, ways))
    for part in _parts(drawn):
        there = Slot.objects.filter(
            item__in=part, round=1, index__lt=ways, state__in=[SlotState.FILLED, SlotState.HELD]
        )
        found.subtract(there.values_list("item_id", flat=True))
    return found


def _further(drawn: list[int], people: set[UUID]) -> Counter[int]:
    """Return for each drawn item the number of these people who can still get it."""
    found = Counter(dict.fromkeys(drawn, len(people)))
    for part in _parts(drawn):
        met = Assignment.objects.filter(item__in=part, state__in=BLOCKING).values_list("item_id", "surrogate_id")
        found.subtract(item for item, person in met.distinct() if person in people)
    return found


def _parts(drawn: list[int]) -> list[list[int]]:
    return [drawn[start : start + CHUNK] for start in range(0, len(drawn), CHUNK)]


def _seconds(campaign: Campaign) -> float | None:
    """Return the median of the annotators' median seconds per item, from the latest numbers."""
    data = Snapshot.objects.filter(campaign=campaign).values_list("data", flat=True).first() or {}
    known = [row["median_seconds"] for row in data.get("people", []) if row["median_seconds"] is not None]
    return statistics.median(known) if known else None
