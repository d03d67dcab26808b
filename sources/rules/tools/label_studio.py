"""Label Studio's exports: the annotators' labels of a task, its known answers, and the number of ignored parts.

References
----------
https://labelstud.io/guide/export: "Raw JSON format of completed tasks"; `completions` before version 1.0.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sources.rules.tools.tool import SEVERAL, SKIPPED, GivenLabel, Passed, Tool, listed, one_label
from storage.tables.values import text_of

# Where the label stands in the value of a result, by its type.
LABEL_AT = {"choices": "choices", "rating": "rating", "number": "number", "pairwise": "selected"}


def _names_of(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the name of the control (``from_name``) for each label of a task."""
    for annotation in _annotations(record):
        for result in listed(annotation, "result"):
            if result.get("type") in LABEL_AT:
                yield text_of(result.get("from_name"))


def _labels_of(record: Mapping[str, Any], name: str | None, passed: Passed, _file: str) -> Iterator[GivenLabel]:
    """Yield a control's labels in a task; count other content by type.

    Raises
    ------
    RecordFault
        The task isn't in the form of Label Studio.
    """
    for annotation in _annotations(record):
        if annotation.get("was_cancelled"):
            passed[SKIPPED] += 1
            continue
        for result in listed(annotation, "result"):
            kind = text_of(result.get("type"))
            if kind not in LABEL_AT:
                passed[kind or "results without a type"] += 1
            elif name in (None, result.get("from_name")):
                label = _label(result, LABEL_AT[kind])
                if label is None:
                    passed[SEVERAL] += 1
                else:
                    yield GivenLabel(_author(annotation), label, is_truth=bool(annotation.get("ground_truth")))


def _annotations(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the annotations of a task, under the name that its version uses."""
    return listed(record, "annotations" if record.get("annotations") is not None else "completions")


def _author(annotation: Mapping[str, Any]) -> str:
    who = annotation.get("completed_by")
    if isinstance(who, Mapping):
        return text_of(who.get("email")) or text_of(who.get("id"))
    return text_of(who)


def _label(result: Mapping[str, Any], key: str) -> str | None:
    value = result.get("value")
    return one_label(value.get(key)) if isinstance(value, Mapping) else None


TOOL = Tool(_names_of, _labels_of)
