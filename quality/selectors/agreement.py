"""Agreement of annotators in a campaign, over what its task type measures."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import orjson
from django.db.models import CharField, Q, TextField
from django.db.models.functions import Cast

from annotation.models import ORDINARY, Annotation, AnnotationState, Campaign
from annotation.tasktypes.base import Measure, Scale
from annotation.tasktypes.registry import TASK_TYPES
from quality.rules.agreement import Level, alpha
from quality.rules.judgments import Repeats, judgments_of
from quality.rules.set_agreement import set_alpha

Value = tuple[int, str, Any]  # item, annotator, what they said
MOST_KEPT = 50_000  # answers that are read once


def agreement_of(campaign: Campaign) -> list[dict[str, Any]]:
    """Return a row for each measure: agreement on ordinary first-round work, as collected and without what was excluded.

    Reads every annotation: for jobs and commands, not for pages.
    """
    measures = TASK_TYPES[campaign.task_type].measures
    collected: list[list[Value]] = [[] for _ in measures]
    counted: list[list[Value]] = [[] for _ in measures]
    said = _Said(measures)
    for item, surrogate, answer, state in _answers(campaign):
        for place, value in said.of(answer):
            collected[place].append((item, surrogate, value))
            if state == AnnotationState.COUNTED:
                counted[place].append((item, surrogate, value))
    return [_row(measure, counted[place], collected[place]) for place, measure in enumerate(measures)]


def _row(measure: Measure, counted: list[Value], collected: list[Value]) -> dict[str, Any]:
    found = _agreement(measure, counted)
    everything = found if len(collected) == len(counted) else _agreement(measure, collected)
    return {"key": measure.key, "scale": measure.scale, "counted": found, "with_excluded": everything}


class _Said:
    """What answers say by each measure. Many answers are the same text: each is read once."""

    def __init__(self, measures: tuple[Measure, ...]) -> None:
        self._measures = measures
        self._kept: dict[str, list[tuple[int, Any]]] = {}

    def of(self, answer: str) -> list[tuple[int, Any]]:
        """Return (number of the measure, value) of an answer as JSON, where it says something."""
        found = self._kept.get(answer)
        if found is None:
            values = ((place, measure.of(orjson.loads(answer))) for place, measure in enumerate(self._measures))
            found = [(place, value) for place, value in values if value is not None]
            if len(self._kept) < MOST_KEPT:
                self._kept[answer] = found
        return found


def _answers(campaign: Campaign) -> Iterable[tuple[int, str, str, str]]:
    """Yield item, annotator, answer and state of first-round work, in order; what was published elsewhere has no assignment."""
    first_round = Q(assignment__slot__round=1) | Q(assignment=None, slot__round=1)
    rows = Annotation.objects.filter(first_round, campaign=campaign, item__batch__purpose__in=ORDINARY)
    rows = rows.exclude(state__in=[AnnotationState.PROVISIONAL, AnnotationState.GIVEN_UP]).order_by("pk")
    # As text: making a UUID and an object of each row takes longer than all that is computed of them.
    rows = rows.annotate(who=Cast("surrogate_id", CharField()), text=Cast("answer", TextField()))
    yield from rows.values_list("item_id", "who", "text", "state").iterator(chunk_size=2000)


def _agreement(measure: Measure, values: list[Value]) -> dict[str, Any]:
    """Return what a measure's values come to. Who answered an item again after undoing it meant the last."""
    if measure.scale is not Scale.SETS:
        level = Level.ORDINAL if measure.scale is Scale.ORDINAL else Level.NOMINAL
        return asdict(alpha(judgments_of(values, repeats=Repeats.LAST), level=level))
    last = {(item, surrogate): value for item, surrogate, value in values}
    units = defaultdict(list)
    for (item, _), value in last.items():
        units[item].append(frozenset((item, thing) for thing in value))
    return asdict(set_alpha(list(units.values())))
