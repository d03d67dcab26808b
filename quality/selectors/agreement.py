"""Agreement of annotators in a campaign, over what its task type measures."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.db.models import Q

from annotation.models import ORDINARY, Annotation, AnnotationState, Campaign
from annotation.tasktypes.base import Measure, Scale
from annotation.tasktypes.registry import TASK_TYPES
from quality.rules.agreement import Level, alpha
from quality.rules.judgments import Repeats, judgments_of
from quality.rules.set_agreement import set_alpha

Value = tuple[int, UUID, Any]  # item, annotator, what they said


def agreement_of(campaign: Campaign) -> list[dict[str, Any]]:
    """Return a row for each measure: agreement on ordinary first-round work, as collected and without what was excluded.

    Reads every annotation: for jobs and commands, not for pages.
    """
    measures = TASK_TYPES[campaign.task_type].measures
    collected: list[list[Value]] = [[] for _ in measures]
    counted: list[list[Value]] = [[] for _ in measures]
    for item, surrogate, answer, state in _answers(campaign):
        for place, measure in enumerate(measures):
            value = measure.of(answer)
            if value is not None:
                collected[place].append((item, surrogate, value))
                if state == AnnotationState.COUNTED:
                    counted[place].append((item, surrogate, value))
    return [
        {
            "key": measure.key, "scale": measure.scale,
            "counted": _agreement(measure, counted[place]), "with_excluded": _agreement(measure, collected[place]),
        }
        for place, measure in enumerate(measures)
    ]  # fmt: skip


def _answers(campaign: Campaign) -> Iterable[tuple[int, UUID, Any, str]]:
    """Yield item, annotator, answer and state of first-round work, in order; what was published elsewhere has no assignment."""
    first_round = Q(assignment__slot__round=1) | Q(assignment=None, slot__round=1)
    rows = Annotation.objects.filter(first_round, campaign=campaign, item__batch__purpose__in=ORDINARY)
    rows = rows.exclude(state__in=[AnnotationState.PROVISIONAL, AnnotationState.GIVEN_UP]).order_by("pk")
    yield from rows.values_list("item_id", "surrogate_id", "answer", "state").iterator(chunk_size=2000)


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
