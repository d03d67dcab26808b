"""Results of Mechanical Turk: a row per assignment, with `Input.` and `Answer.` columns (see the requester's guide).

An answer is in ``Answer.label``, in one column per option (``Answer.label.3`` is true), or in JSON in
``Answer.taskAnswers``.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sources.rules.faults import RecordFault
from sources.rules.tools.tool import SEVERAL, SKIPPED, GivenLabel, Passed, Tool, one_label
from storage.tables.values import text_of

_ANSWER, _TASK = "Answer.", "Answer.taskAnswers"
_TRUE = ("true", "on", "1")


def _names_of(record: Mapping[str, Any]) -> Iterator[str]:
    yield from _answers(record)


def _labels_of(record: Mapping[str, Any], name: str | None, passed: Passed, _file: str) -> Iterator[GivenLabel]:
    if text_of(record.get("AssignmentStatus")).lower() == "rejected":
        passed["rejected assignments"] += 1
        return
    answers = _answers(record)
    for question, value in answers.items():
        if name in (None, question):
            label = one_label(value)
            if label is None:
                passed[SEVERAL] += 1
            else:
                yield GivenLabel(text_of(record.get("WorkerId")), label)
    if not answers:
        passed[SKIPPED] += 1


def _answers(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer to each question; a list if each option has its own column."""
    if text_of(record.get(_TASK)):
        return _of_json(text_of(record[_TASK]))
    found: dict[str, Any] = {}
    for column, value in record.items():
        if not column.startswith(_ANSWER):
            continue
        question, dot, option = column.removeprefix(_ANSWER).partition(".")
        if not dot:
            found[question] = text_of(value)
        elif text_of(value).lower() in _TRUE:
            found.setdefault(question, []).append(option)
        else:
            found.setdefault(question, [])
    return found


def _of_json(text: str) -> dict[str, Any]:
    try:
        [answers] = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise RecordFault(_TASK, "isn't JSON with one set of answers") from None
    if not isinstance(answers, Mapping):
        raise RecordFault(_TASK, "isn't JSON with one set of answers")
    return {
        question: [option for option, chosen in value.items() if chosen is True]
        if isinstance(value, Mapping)
        else value
        for question, value in answers.items()
    }


TOOL = Tool(_names_of, _labels_of, ids=("HITId",))
