"""Fast reading of all answers of a campaign, for jobs and commands."""

from collections.abc import Iterator
from typing import Any

import orjson
from django.db.models import CharField, QuerySet, TextField
from django.db.models.functions import Cast

from annotation.models import Annotation
from annotation.tasktypes.base import TaskType

MOST_KEPT = 50_000  # answers that are read once


def answers_as_text(annotations: QuerySet[Annotation], column: str) -> Iterator[tuple[int, str, str, Any]]:
    """Yield item, annotator, answer as JSON and one more column of annotations, in order.

    The values are text: making a UUID and an object of each row takes longer than all later computation.
    """
    rows = annotations.annotate(who=Cast("surrogate_id", CharField()), text=Cast("answer", TextField()))
    yield from rows.order_by("pk").values_list("item_id", "who", "text", column).iterator(chunk_size=2000)


class Said:
    """The path and the measures of answers. Many answers have the same text, so each text is parsed once."""

    def __init__(self, task_type: TaskType) -> None:
        self._task_type = task_type
        self._kept: dict[str, tuple[str, list[tuple[int, Any]]]] = {}

    def of(self, answer: str) -> tuple[str, list[tuple[int, Any]]]:
        """Return the path of an answer as JSON, and (number of the measure, value) for each measure with a value."""
        found = self._kept.get(answer)
        if found is None:
            read = orjson.loads(answer)
            values = ((place, measure.of(read)) for place, measure in enumerate(self._task_type.measures))
            found = self._task_type.path(read), [(place, value) for place, value in values if value is not None]
            if len(self._kept) < MOST_KEPT:
                self._kept[answer] = found
        return found
