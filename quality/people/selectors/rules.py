"""The histories of people, in the form that rules read."""

from collections import defaultdict
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from annotation.campaigns.selectors.sealing import unsealed
from annotation.models import (
    Annotation,
    AnnotationState,
    Assignment,
    AssignmentState,
    Campaign,
    CountedChange,
    Standing,
    StandingChange,
)
from annotation.tasktypes.registry import TASK_TYPES
from quality.models import GoldCheck, Inspection, InspectionVerdict, WatchRule
from quality.people.rules import Act, Collector, Condition, Fact, Kind, kinds_of

Facts = dict[UUID, list[Fact]]
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


def condition_of(rule: WatchRule) -> Condition:
    """Return the condition of a stored rule."""
    return Condition(
        Collector(rule.collector), rule.is_above, rule.limit, window=rule.window, least=rule.least, act=Act(rule.act)
    )


def facts_of(
    campaign: Campaign, surrogate_ids: Collection[UUID], collector: Collector, *, since: datetime | None = None
) -> Facts:
    """Return the facts of people that a collector reads, optionally since a time, with all of their standings."""
    found: Facts = defaultdict(list)
    begin = since or BEGINNING
    _standings(campaign, surrogate_ids, found)
    for kind in kinds_of(collector):
        _READERS[kind](campaign, surrogate_ids, found, begin)
    return found


def reinstated_at(campaign: Campaign, surrogate_ids: Collection[UUID]) -> dict[UUID, datetime]:
    """Return when a manager last reactivated each person."""
    rows = StandingChange.objects.filter(
        campaign=campaign, surrogate__in=surrogate_ids, after=Standing.ACTIVE, changed_by__isnull=False
    )
    return dict(rows.order_by("at", "pk").values_list("surrogate_id", "at"))


def _standings(campaign: Campaign, surrogate_ids: Collection[UUID], found: Facts) -> None:
    rows = StandingChange.objects.filter(campaign=campaign, surrogate__in=surrogate_ids)
    for pk, surrogate_id, at, after, by in rows.values_list("pk", "surrogate_id", "at", "after", "changed_by"):
        found[surrogate_id].append(Fact(at, Kind.STANDING, pk, (after, by is not None)))


def _undone(campaign: Campaign, surrogate_ids: Collection[UUID]) -> dict[int, datetime]:
    """Return when annotations were undone, by their keys."""
    rows = CountedChange.objects.filter(
        annotation__campaign=campaign, annotation__surrogate__in=surrogate_ids, after=AnnotationState.UNDONE
    )
    return dict(rows.order_by("-pk").values_list("annotation_id", "at"))


def _checks(campaign: Campaign, surrogate_ids: Collection[UUID], found: Facts, begin: datetime) -> None:
    rows = GoldCheck.objects.filter(campaign=campaign, surrogate__in=surrogate_ids, is_void=False, at__gte=begin)
    for pk, surrogate_id, at, is_hit in rows.values_list("pk", "surrogate_id", "at", "is_hit"):
        found[surrogate_id].append(Fact(at, Kind.CHECK, pk, not is_hit))


def _inspections(campaign: Campaign, surrogate_ids: Collection[UUID], found: Facts, begin: datetime) -> None:
    rows = Inspection.objects.filter(campaign=campaign, annotation__surrogate__in=surrogate_ids, because="sample")
    rows = rows.filter(inspected_at__gte=begin).exclude(verdict="")
    for pk, who, at, verdict in rows.values_list("pk", "annotation__surrogate_id", "inspected_at", "verdict"):
        if at is not None:
            found[who].append(Fact(at, Kind.INSPECTION, pk, verdict == InspectionVerdict.WRONG))


def _answers(campaign: Campaign, surrogate_ids: Collection[UUID], found: Facts, begin: datetime) -> None:
    undone, path = _undone(campaign, surrogate_ids), TASK_TYPES[campaign.task_type].path
    rows = Annotation.objects.filter(
        unsealed(), campaign=campaign, surrogate__in=surrogate_ids, submitted_at__gte=begin
    )
    columns = ("pk", "surrogate_id", "submitted_at", "active_seconds", "seconds", "answer")
    for pk, who, at, active, seconds, answer in rows.values_list(*columns).iterator(chunk_size=2000):
        value: Any = (seconds if active is None else active, path(answer))
        found[who].append(Fact(at, Kind.ANSWER, pk, value, undone.get(pk)))


def _skips(campaign: Campaign, surrogate_ids: Collection[UUID], found: Facts, begin: datetime) -> None:
    rows = Assignment.objects.filter(campaign=campaign, surrogate__in=surrogate_ids, state=AssignmentState.SKIPPED)
    rows = rows.filter(ended_at__gte=begin).exclude(skip_reason="offensive")
    for pk, who, at in rows.values_list("pk", "surrogate_id", "ended_at"):
        if at is not None:
            found[who].append(Fact(at, Kind.SKIP, pk.int >> 65, None))


_READERS = {
    Kind.CHECK: _checks,
    Kind.INSPECTION: _inspections,
    Kind.ANSWER: _answers,
    Kind.SKIP: _skips,
}
