"""The training round: examples with feedback before the first item."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from annotation.models import Campaign, Participation, TrainingExample
from annotation.slots.services.participation_locks import participation_lock
from annotation.tasktypes.base import AnswerError, Shown
from annotation.tasktypes.registry import TASK_TYPES
from database.transactions import durable, require_transaction


@dataclass(frozen=True, slots=True)
class Lesson:
    """An example of the training round, with its number among all examples.

    ``finishes``: this answer was the last of the round.
    """

    number: int
    of: int
    content: dict[str, Any]
    sent: str = ""
    finishes: bool = False

    @property
    def is_right(self) -> bool:
        """Return whether the submitted label is the label of the example."""
        return self.sent == str(self.content["label"])


def training_create(*, campaign: Campaign) -> None:
    """Give a campaign the examples of its task type."""
    require_transaction()
    examples = TASK_TYPES[campaign.task_type].training
    TrainingExample.objects.bulk_create(
        TrainingExample(campaign=campaign, position=position, content=content)
        for position, content in enumerate(examples)
    )


def lesson_next(*, campaign: Campaign, surrogate_id: UUID) -> Lesson | None:
    """Return the annotator's next example, or None when the round is done."""
    place = Participation.objects.filter(campaign=campaign, surrogate_id=surrogate_id).first()
    return _lesson(campaign, place.trained if place else 0)


def _lesson(campaign: Campaign, position: int, sent: str = "") -> Lesson | None:
    contents = list(
        TrainingExample.objects.filter(campaign=campaign).order_by("position").values_list("content", flat=True)
    )
    if not 0 <= position < len(contents):
        return None
    return Lesson(position + 1, len(contents), contents[position], sent)


def _label(campaign: Campaign, sent: Mapping[str, Any]) -> str:
    """Return the label that a form sent, whatever the task type, or "" if it is not a valid answer."""
    task_type = TASK_TYPES[campaign.task_type]
    stage = task_type.stages[0]
    try:
        draft = task_type.advance({}, stage, task_type.sent_from(sent), Shown({}))
    except AnswerError:
        return ""
    return str(draft.get(stage, {}).get("label", ""))


@durable
def lesson_answer(
    *, campaign: Campaign, surrogate_id: UUID, number: int, sent: Mapping[str, Any], now: datetime
) -> Lesson | None:
    """Take an answer to an example, go to the next, and return the answered example with the submitted label.

    Nothing depends on whether the answer was right. An answer sent again, or to another example, changes nothing.
    """
    place = participation_lock(campaign_id=campaign.pk, surrogate_id=surrogate_id)
    lesson = _lesson(campaign, number - 1, _label(campaign, sent))
    if lesson is not None and place.trained == number - 1:
        done = {"trained_at": now} if number == lesson.of else {}
        Participation.objects.filter(pk=place.pk).update(trained=number, **done)
        lesson = replace(lesson, finishes=bool(done))
    return lesson
