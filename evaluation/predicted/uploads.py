"""Reading a system's predictions as answers to a campaign's items."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from django.db.models import QuerySet

from annotation.models import ORDINARY, Campaign, Item, ItemState
from annotation.tasktypes.base import Answer, Extractive
from documents.selectors import tokenization_of
from evaluation.nq.answers import NONE, Prediction
from evaluation.nq.predictions import PredictionFault
from storage.tables.faults import RowError
from web.errors import KeyedError

CHUNK = 200
MOST_ANSWERS = 50_000  # of a system
Progress = Callable[[int, int], None]


class PredictedError(KeyedError):
    """A system's predictions can't be added, or not sent to experts; the message gives the reason."""


@dataclass
class Predicted:
    """A system's answers by item, and what isn't used of its file.

    ``others`` is the number of predictions for examples that aren't items to annotate in the campaign; ``unused`` that of
    short answers that an annotator couldn't give: without a long answer, outside it, overlapping, or without a word.
    """

    answers: dict[int, Answer] = field(default_factory=dict)
    others: int = 0
    unused: int = 0


def confident(prediction: Prediction, least_long: float | None, least_short: float | None) -> Prediction:
    """Return a prediction without the answers that score below the least scores."""
    if least_long is not None and prediction.long_score < least_long:
        prediction = prediction._replace(long=None)
    if least_short is not None and prediction.short_score < least_short:
        prediction = prediction._replace(shorts=(), yes_no=NONE)
    return prediction


def answers_predicted(
    campaign: Campaign, task_type: Extractive, predictions: Mapping[int, Prediction], name: str, progress: Progress
) -> Predicted:
    """Return the answers that predictions give to the campaign's items.

    Raises
    ------
    PredictionFault
        A long answer isn't a box of the item's page; the message names the file and the example.
    PredictedError
        There are too many.
    """
    found, examples = Predicted(), list(predictions)
    for start in range(0, len(examples), CHUNK):
        progress(start, len(examples))
        for item in _items(campaign, examples[start : start + CHUNK]):
            prediction, page = predictions[int(item.published_id)], tokenization_of(item.tokenization)
            assert page is not None
            try:
                answer = task_type.predicted(prediction.long, prediction.shorts, prediction.yes_no, page)
            except RowError as error:
                raise PredictionFault(f"{name}: example {item.published_id}: {error.column}: {error}") from error
            found.answers[item.pk] = answer
            if len(found.answers) > MOST_ANSWERS:
                raise PredictedError("predicted_most_answers", most=MOST_ANSWERS)
            found.unused += prediction.has_short and task_type.finds["short"](answer) is None
    found.others = len(examples) - len(found.answers)
    return found


def _items(campaign: Campaign, examples: list[int]) -> QuerySet[Item]:
    """Return the campaign's items to annotate among examples."""
    named = items_to_answer(campaign).filter(published_id__in=list(map(str, examples)))
    return named.select_related("tokenization__document").order_by("pk")


def items_to_answer(campaign: Campaign) -> QuerySet[Item]:
    """Return the items for which a system can have a prediction."""
    items = Item.objects.filter(campaign=campaign, state=ItemState.ACTIVE, batch__purpose__in=ORDINARY)
    return items.exclude(tokenization=None)
