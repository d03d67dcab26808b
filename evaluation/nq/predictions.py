"""Prediction files in the format of the official evaluation, with errors that name the problem."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from evaluation.nq.answers import NONE, YES_NO, AnswerFault, Prediction, span_of

MOST_BYTES = 2**29  # those for all 307,373 training examples are a third of this


class PredictionFault(ValueError):
    """A prediction file cannot be scored; the message names the prediction and the field."""


def read_predictions(path: Path) -> dict[int, Prediction]:
    """Return the prediction for each example.

    Raises
    ------
    PredictionFault
        The file isn't JSON, a prediction breaks the format, or an example has two predictions.
    """
    try:
        if path.exists() and not path.is_file():
            raise PredictionFault(f"{path}: isn't a file")
        if path.stat().st_size > MOST_BYTES:
            raise PredictionFault(f"{path}: is larger than {MOST_BYTES:,} bytes")
        content = path.read_bytes()
    except OSError as error:
        raise PredictionFault(f"{path}: can't be read: {error}") from error
    return predictions_of(content, str(path))


def predictions_of(content: bytes, name: str) -> dict[int, Prediction]:
    """Return the prediction for each example from the content of a file; errors state its name.

    Raises
    ------
    PredictionFault
    """
    try:
        found = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise PredictionFault(f"{name}: isn't valid JSON: {error}") from error
    rows = found.get("predictions") if isinstance(found, dict) else None
    if not isinstance(rows, list):
        raise PredictionFault(f"{name}: expected an object with a list called predictions")
    predictions: dict[int, Prediction] = {}
    for number, row in enumerate(rows):
        field = f"predictions[{number}]"
        try:
            example_id, prediction = _prediction(row, field)
        except AnswerFault as fault:
            raise PredictionFault(f"{name}: {fault}") from fault
        if example_id in predictions:
            raise PredictionFault(f"{name}: {field}.example_id: there is an earlier prediction for {example_id}")
        predictions[example_id] = prediction
    return predictions


def _prediction(row: Any, field: str) -> tuple[int, Prediction]:
    if not isinstance(row, Mapping):
        raise AnswerFault(field, "expected an object")
    example_id = row.get("example_id")
    if type(example_id) is not int:
        raise AnswerFault(f"{field}.example_id", "expected a whole number; ids of the simplified format are text there")
    long = span_of(row["long_answer"], f"{field}.long_answer") if "long_answer" in row else None
    shorts = row.get("short_answers", [])
    if not isinstance(shorts, list):
        raise AnswerFault(f"{field}.short_answers", "expected a list")
    spans = [span_of(span, f"{field}.short_answers[{number}]") for number, span in enumerate(shorts)]
    known = tuple(span for span in spans if span is not None)
    yes_no = row.get("yes_no_answer", NONE)
    if not isinstance(yes_no, str) or yes_no.lower() not in YES_NO:
        raise AnswerFault(f"{field}.yes_no_answer", "expected yes, no or none")
    if yes_no.lower() != NONE and known:
        raise AnswerFault(f"{field}.yes_no_answer", "there are short answers beside it: one or the other")
    scores = (_score(row, name, field) for name in ("long_answer_score", "short_answers_score"))
    return example_id, Prediction(long, known, yes_no.lower(), *scores)


def _score(row: Mapping[str, Any], name: str, field: str) -> float:
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise AnswerFault(f"{field}.{name}", "expected a number; the official evaluation asks for both scores")
    return value
