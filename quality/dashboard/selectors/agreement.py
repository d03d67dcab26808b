"""Agreement between annotators in a campaign, by the measures of its task type."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any

import numpy as np
from django.db.models import Q

from annotation.campaigns.selectors.sealing import unsealed
from annotation.models import ORDINARY, Annotation, AnnotationState, Campaign
from annotation.tasktypes.base import Measure, Scale, TaskType
from annotation.tasktypes.registry import TASK_TYPES, pages_of
from measures.agreement import Level, alpha, coincidences
from measures.judgments import Columns, Judgments, Repeats, judgments_of
from measures.set_agreement import PagesAgreement
from quality.labels.selectors.answers import Said, answers_as_text
from quality.models import QualitySnapshot

Value = tuple[int, str, Any]  # item, annotator, what they said
TREND_PARTS, TREND_ITEMS = 12, 50  # the most parts, and the fewest items with two answers in each


def agreement_of(campaign: Campaign) -> dict[str, Any]:
    """Return the agreement between annotators on ordinary first-round work.

    ``agreement``: a row for each measure, over collected annotations, over counted ones, and over counted ones by
    version of the guidelines; ``trend``: alpha of counted annotations by the time items were first answered;
    ``confusion``: how often pairs of answers occur on one item. Reads every annotation: use it in jobs and commands,
    not in pages.
    """
    task_type = TASK_TYPES[campaign.task_type]
    measures = task_type.measures
    collected: list[list[Value]] = [[] for _ in measures]
    counted: list[list[Value]] = [[] for _ in measures]
    paths: list[Value] = []
    said = Said(task_type)
    for item, surrogate, answer, state in _answers(campaign):
        path, values = said.of(answer)
        for place, value in values:
            collected[place].append((item, surrogate, value))
            if state == AnnotationState.COUNTED:
                counted[place].append((item, surrogate, value))
        if state == AnnotationState.COUNTED:
            paths.append((item, surrogate, path))
    under = _guidelines_of_items(campaign)
    rows: list[dict[str, Any]] = []
    trend: dict[str, Any] = {}
    for place, measure in enumerate(measures):
        found, judgments = _agreement(measure, counted[place])
        has_excluded = len(collected[place]) != len(counted[place])
        everything = _agreement(measure, collected[place])[0] if has_excluded else found
        rows.append(
            {
                "key": measure.key,
                "scale": measure.scale,
                "counted": found,
                "with_excluded": everything,
                "by_guideline": _by_guideline(measure, counted[place], under),
            }
        )
        if judgments is not None and not trend:
            trend = _trend(campaign, measure, judgments)
    return {"agreement": rows, "trend": trend, "confusion": _confusion(paths)}


def agreement_over(task_type: TaskType, answers: Iterable[tuple[int, str, str]]) -> list[dict[str, Any]]:
    """Return each measure's key, scale and alpha. Keeps only numbers of labels in memory, not answers.

    Parameters
    ----------
    answers
        Item, annotator and answer as JSON, grouped by item. Only the last answer of an annotator is used.
    """
    said, measures = Said(task_type), task_type.measures
    sets = {place: PagesAgreement() for place, measure in enumerate(measures) if measure.scale is Scale.SETS}
    labels = {place: Columns(measure.labels) for place, measure in enumerate(measures) if place not in sets}
    for number, (_item, rows) in enumerate(groupby(answers, key=itemgetter(0))):
        last = {who: said.of(answer)[1] for _, who, answer in rows}
        values: dict[int, list[Any]] = defaultdict(list)
        for who, given in last.items():
            for place, value in given:
                if place in sets:
                    values[place].append(frozenset(value))
                else:
                    labels[place].add(number, who, value)
        for place, of_item in values.items():
            sets[place].add(of_item)
    found = [
        sets[place].result() if place in sets else alpha(labels[place].judgments(), level=_level(measure))
        for place, measure in enumerate(measures)
    ]
    return [
        {"key": measure.key, "scale": measure.scale, **asdict(one)}
        for measure, one in zip(measures, found, strict=True)
    ]


def agreement_shown(campaign: Campaign, kept: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """Return the stored agreement rows with the names of their measures, from ``kept`` if given.

    ``has_distances`` of each row says whether any row compares sets, by distances.
    """
    if kept is None:
        kept = QualitySnapshot.objects.filter(campaign=campaign).values_list("data", flat=True).first() or {}
    names = pages_of(campaign.task_type).measures
    rows = kept.get("agreement", [])
    has_distances = any(row["scale"] == Scale.SETS for row in rows)
    return [{**row, "name": names.get(row["key"], row["key"]), "has_distances": has_distances} for row in rows]


def _guidelines_of_items(campaign: Campaign) -> dict[int, int]:
    """Return the guideline version of items answered under one version only; empty if all have the same version."""
    rows = Annotation.objects.filter(
        unsealed(), campaign=campaign, state=AnnotationState.COUNTED, guideline__isnull=False
    )
    versions: dict[int, set[int]] = defaultdict(set)
    if campaign.guidelines.count() > 1:
        for item, version in rows.order_by("item").values_list("item", "guideline__version").distinct():
            versions[item].add(version)
    found = {item: next(iter(those)) for item, those in versions.items() if len(those) == 1}
    return found if len(set(found.values())) > 1 else {}


def _by_guideline(measure: Measure, values: list[Value], under: dict[int, int]) -> list[dict[str, Any]]:
    parts: dict[int, list[Value]] = defaultdict(list)
    for value in values:
        if value[0] in under:
            parts[under[value[0]]].append(value)
    return [{"version": version, **_agreement(measure, part)[0]} for version, part in sorted(parts.items())]


def _trend(campaign: Campaign, measure: Measure, judgments: Judgments) -> dict[str, Any]:
    """Return alpha over equally large groups of items in the order of their first answers; empty with too few items."""
    judged = np.flatnonzero(judgments.counts().sum(axis=1) >= 2)
    parts = min(TREND_PARTS, len(judged) // TREND_ITEMS)
    starts = [int(part[0]) for part in np.array_split(judged, parts)] if parts >= 2 else []
    found = [
        (judgments.items[after - 1], alpha(judgments.of_items(first, after), level=_level(measure)))
        for first, after in pairwise([*starts, len(judgments.items)])
    ]
    return {
        "key": measure.key,
        "parts": [{"until": _day(campaign, item), **asdict(one)} for item, one in found],
    }


def _day(campaign: Campaign, item: int) -> str:
    """Return the day on which an item was first answered."""
    answers = Annotation.objects.filter(campaign=campaign, item_id=item, state=AnnotationState.COUNTED)
    return str(answers.order_by("pk").values_list("submitted_at", flat=True)[0].date())


def _confusion(paths: list[Value]) -> dict[str, Any]:
    judgments = judgments_of(paths, repeats=Repeats.LAST)
    return {"paths": list(judgments.labels), "pairs": coincidences(judgments).round(3).tolist()}


def _answers(campaign: Campaign) -> Iterable[tuple[int, str, str, str]]:
    """Return item, annotator, answer and state of first-round work, in order; published answers have no assignment."""
    first_round = Q(assignment__slot__round=1) | Q(assignment=None, slot__round=1)
    rows = Annotation.objects.filter(first_round, unsealed(), campaign=campaign, item__batch__purpose__in=ORDINARY)
    nobodys = [AnnotationState.PROVISIONAL, AnnotationState.GIVEN_UP, AnnotationState.UNDONE]
    rows = rows.exclude(state__in=nobodys)
    return answers_as_text(rows, "state")


def _level(measure: Measure) -> Level:
    return Level.ORDINAL if measure.scale is Scale.ORDINAL else Level.NOMINAL


def _agreement(measure: Measure, values: list[Value]) -> tuple[dict[str, Any], Judgments | None]:
    """Return the agreement of a measure's values, and their judgments if the values are labels."""
    if measure.scale is not Scale.SETS:
        judgments = judgments_of(values, labels=measure.labels or None, repeats=Repeats.LAST)
        return asdict(alpha(judgments, level=_level(measure))), judgments
    by_item: dict[int, dict[str, Any]] = defaultdict(dict)
    for item, surrogate, value in values:
        by_item[item][surrogate] = value
    found = PagesAgreement()
    for given in by_item.values():
        found.add([frozenset(value) for value in given.values()])
    return asdict(found.result()), None
