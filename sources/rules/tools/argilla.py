"""Argilla's exports: records of version 2, older feedback datasets, and files of their Hugging Face datasets.

References
----------
https://docs.argilla.io/latest/how_to_guides/import_export: ``to_json``, ``to_datasets``.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sources.rules.tools.tool import SEVERAL, SKIPPED, GivenLabel, Passed, Tool, one_label
from storage.tables.values import text_of

_RESPONSES = ".responses"


def _names_of(record: Mapping[str, Any]) -> Iterator[str]:
    yield from _answers(record)


def _labels_of(record: Mapping[str, Any], name: str | None, passed: Passed, _file: str) -> Iterator[GivenLabel]:
    for question, answers in _answers(record).items():
        if name not in (None, question):
            continue
        for worker, value, status in answers:
            label = one_label(value)
            if status in ("discarded", "draft"):
                passed[SKIPPED] += 1
            elif label is None:
                passed[SEVERAL] += 1
            else:
                yield GivenLabel(worker, label)


def _answers(record: Mapping[str, Any]) -> dict[str, list[tuple[str, Any, str]]]:
    """Return by question the annotator, the answer, and the status, such as submitted."""
    found: dict[str, list[tuple[str, Any, str]]] = {}
    responses = record.get("responses")
    if isinstance(responses, Mapping):  # version 2: a list per question
        for question, given in responses.items():
            found[question] = [
                (text_of(one.get("user_id")), one.get("value"), text_of(one.get("status"))) for one in given or []
            ]
    elif isinstance(responses, list):  # before: all questions of a person together
        for one in responses:
            for question, value in (one.get("values") or {}).items():
                answer = value.get("value") if isinstance(value, Mapping) else value
                found.setdefault(question, []).append((text_of(one.get("user_id")), answer, text_of(one.get("status"))))
    for column, values in record.items():  # a table: columns for values, people and states
        if column.endswith(_RESPONSES) and isinstance(values, list):
            people = record.get(f"{column}.users") or [None] * len(values)
            states = record.get(f"{column}.status") or [""] * len(values)
            rows = zip(people, values, states, strict=True)
            found[column.removesuffix(_RESPONSES)] = [
                (text_of(who), value, text_of(state)) for who, value, state in rows
            ]
    return found


TOOL = Tool(_names_of, _labels_of, ids=("external_id", "id"))
