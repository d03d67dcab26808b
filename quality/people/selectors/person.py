"""One person in a campaign, for managers: observations compared with everybody's, and decisions."""

import statistics
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any
from uuid import UUID

from django.db.models import Count, Max, Q
from django.db.models.functions import TruncDate

from annotation.campaigns.selectors.sealing import unsealed
from annotation.items.selectors import ShownAnswer, answer_shown
from annotation.models import (
    ORDINARY,
    Annotation,
    AnnotationState,
    Campaign,
    CountedChange,
    Participation,
    Snapshot,
    StandingChange,
)
from annotation.tasktypes.base import Measure, Scale
from annotation.tasktypes.registry import TASK_TYPES
from measures.set_agreement import masi_distance
from quality.gold.selectors import checks_held
from quality.models import GoldCheck, QualitySnapshot, Review

LATEST = 300  # annotations that peers are compared over
MOST_SHOWN = 50


@dataclass(frozen=True, slots=True)
class PeerAgreement:
    """A person's agreement with others on the same items, and everybody's agreement; None without pairs."""

    key: str
    share: float | None
    everybody: float | None
    pairs: int


def person_of(*, campaign: Campaign, surrogate_id: UUID) -> dict[str, Any] | None:
    """Return the facts about a person for their page, or None if they don't participate in the campaign.

    The cost is bounded by `LATEST` annotations and the answers of others to those items.
    """
    place = Participation.objects.filter(campaign=campaign, surrogate_id=surrogate_id).first()
    if place is None:
        return None
    own = Annotation.objects.filter(
        unsealed(), campaign=campaign, surrogate_id=surrogate_id, item__batch__purpose__in=ORDINARY
    )
    latest = list(own.order_by("-pk")[:LATEST])
    return {
        "place": place,
        "misses": _misses(campaign, surrogate_id),
        "checks": checks_held(campaign).filter(surrogate_id=surrogate_id).count(),
        "seconds": _median(latest),
        "peers": _peers(campaign, latest),
        "timeline": _timeline(campaign, surrogate_id),
        **_beside_the_rest(campaign, surrogate_id),
    }


def _misses(campaign: Campaign, surrogate_id: UUID) -> list[tuple[GoldCheck, ShownAnswer]]:
    """Return the missed gold checks, the latest first, each with the answer."""
    rows = checks_held(campaign).filter(surrogate_id=surrogate_id, is_hit=False)
    rows = rows.select_related("key", "annotation__item__tokenization", "annotation__campaign").order_by("-pk")
    return [(row, answer_shown(row.annotation)) for row in rows[:MOST_SHOWN]]


def _median(rows: list[Annotation]) -> float | None:
    times = [row.active_seconds if row.active_seconds is not None else row.seconds for row in rows]
    return round(statistics.median(times), 1) if times else None


def _peers(campaign: Campaign, latest: list[Annotation]) -> list[PeerAgreement]:
    """Return for each measure the rate of equal answers by others; for sets, 1 minus the mean distance."""
    mine = {row.item_id: row.answer for row in latest if row.state == AnnotationState.COUNTED}
    others = Annotation.objects.filter(item__in=mine, state=AnnotationState.COUNTED)
    if latest:
        others = others.exclude(surrogate_id=latest[0].surrogate_id)
    answers: dict[int, list[Any]] = defaultdict(list)
    for item_id, answer in others.values_list("item_id", "answer"):
        answers[item_id].append(answer)
    kept = QualitySnapshot.objects.filter(campaign=campaign).values_list("data", flat=True).first() or {}
    everybody = {row["key"]: row["counted"].get("observed") for row in kept.get("agreement", [])}
    return [
        _with_peers(measure, mine, answers, everybody.get(measure.key))
        for measure in TASK_TYPES[campaign.task_type].measures
    ]


def _with_peers(
    measure: Measure, mine: dict[int, Any], answers: dict[int, list[Any]], everybody: float | None
) -> PeerAgreement:
    is_sets = measure.scale is Scale.SETS
    pairs = (
        (own, other)
        for item_id, answer in mine.items()
        if (own := measure.of(answer)) is not None
        for other in map(measure.of, answers[item_id])
        if other is not None
    )
    alike = [1 - masi_distance(own, other) if is_sets else float(own == other) for own, other in pairs]
    if is_sets and everybody is not None:
        everybody = 1 - everybody
    return PeerAgreement(measure.key, statistics.fmean(alike) if alike else None, everybody, len(alike))


def _timeline(campaign: Campaign, surrogate_id: UUID) -> list[dict[str, Any]]:
    """Return the changes of a person's standing and work with their reasons, the latest first."""
    changes = StandingChange.objects.filter(campaign=campaign, surrogate_id=surrogate_id).order_by("-pk")[:MOST_SHOWN]
    appeals = Review.objects.filter(campaign=campaign, surrogate_id=surrogate_id, appealed_at__isnull=False)
    rows = chain(
        (
            {
                "at": row.at,
                "what": row.get_after_display(),
                "why": row.because,
                "by_person": row.changed_by_id is not None,
            }
            for row in changes
        ),
        ({"at": row.appealed_at, "appeal": row.appeal, "answer": row.appeal_answer} for row in appeals[:MOST_SHOWN]),
        _exclusions(campaign, surrogate_id),
    )
    return sorted(rows, key=lambda row: row["at"], reverse=True)


def _exclusions(campaign: Campaign, surrogate_id: UUID) -> Iterator[dict[str, Any]]:
    """Return the numbers of a person's excluded and restored answers, by day and whether a manager did it."""
    own = CountedChange.objects.filter(annotation__campaign=campaign, annotation__surrogate_id=surrogate_id)
    changes = own.filter(Q(after=AnnotationState.EXCLUDED) | Q(before=AnnotationState.EXCLUDED))
    days = changes.values("after", day=TruncDate("at"), by_person=Q(changed_by__isnull=False))
    for row in days.annotate(answers=Count("pk"), last=Max("at")).order_by("-last")[:MOST_SHOWN]:
        yield {
            "at": row["last"],
            "answers": row["answers"],
            "is_excluded": row["after"] == AnnotationState.EXCLUDED,
            "by_person": row["by_person"],
        }


def _beside_the_rest(campaign: Campaign, surrogate_id: UUID) -> dict[str, Any]:
    """Return a person's shares of answers by path next to everybody's, and everybody's median time."""
    kept = Snapshot.objects.filter(campaign=campaign).values_list("data", flat=True).first() or {}
    people = kept.get("people", [])
    nothing: dict[str, Any] = {"paths": {}, "counted": 0 if kept else None}
    own = next((row for row in people if row["surrogate"] == str(surrogate_id)), nothing)
    times = [row["median_seconds"] for row in people if row["median_seconds"] is not None]
    paths = kept.get("paths", {})
    total, counted = sum(paths.values()), sum(own["paths"].values())
    return {
        "typical_seconds": round(statistics.median(times), 1) if times else None,
        "counted": own["counted"],
        "shares": [
            (path, own["paths"].get(path, 0) / counted if counted else 0.0, n / total)
            for path, n in sorted(paths.items())
        ],
    }
