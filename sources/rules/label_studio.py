"""Label Studio's exports: who said what of a task, what is known of it, and what is passed over.

References
----------
https://labelstud.io/guide/export: "Raw JSON format of completed tasks"; `completions` before version 1.0.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sources.rules.faults import RecordFault
from storage.tables.values import text_of

# Where the label stands in the value of a result, by its type.
LABEL_AT = {"choices": "choices", "rating": "rating", "number": "number", "pairwise": "selected"}
CANCELLED, SEVERAL = "skipped annotations", "choices with several labels or none"


class Said(NamedTuple):
    """One label of a task; ``worker`` is empty where the export names nobody."""

    worker: str
    label: str
    is_truth: bool


def names_of(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the name of the control (``from_name``) behind each label of a task."""
    for annotation in annotations_of(record):
        for result in _results(annotation):
            if result.get("type") in LABEL_AT:
                yield text_of(result.get("from_name"))


def said_of(record: Mapping[str, Any], name: str | None, passed: Counter[str]) -> Iterator[Said]:
    """Yield the labels of a task that came from a control; count by type what is no label of one.

    Raises
    ------
    RecordFault
        The task isn't in the form of Label Studio.
    """
    for annotation in annotations_of(record):
        if annotation.get("was_cancelled"):
            passed[CANCELLED] += 1
            continue
        for result in _results(annotation):
            kind = text_of(result.get("type"))
            if kind not in LABEL_AT:
                passed[kind or "results without a type"] += 1
            elif name in (None, result.get("from_name")):
                label = _label(result, LABEL_AT[kind])
                if label is None:
                    passed[SEVERAL] += 1
                else:
                    yield Said(_author(annotation), label, is_truth=bool(annotation.get("ground_truth")))


def annotations_of(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the annotations of a task, by the name that its version has for them."""
    for name in ("annotations", "completions"):
        found = record.get(name)
        if found is not None:
            if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
                raise RecordFault(name, "isn't a list of annotations")
            return found
    return []


def _results(annotation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = annotation.get("result") or []
    if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
        raise RecordFault("annotations.result", "isn't a list of results")
    return found


def _author(annotation: Mapping[str, Any]) -> str:
    who = annotation.get("completed_by")
    if isinstance(who, Mapping):
        return text_of(who.get("email")) or text_of(who.get("id"))
    return text_of(who)


def _label(result: Mapping[str, Any], key: str) -> str | None:
    value = result.get("value")
    label = value.get(key) if isinstance(value, Mapping) else None
    if isinstance(label, list):
        label = label[0] if len(label) == 1 else None
    return text_of(label).strip() or None if isinstance(label, str | int | float) else None
