"""doccano's exports for text classification: a file per annotator, or one file with all annotators' names.

Spans, texts and relations are only counted by type. ``label`` holds names, or the numbers that old versions exported.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sources.rules.tools.tool import SEVERAL, GivenLabel, Passed, Tool, listed, one_label
from storage.tables.values import text_of

LABEL = "label"
_ALL = ("all", "unknown")  # names of files that hold everybody's work


def _names_of(record: Mapping[str, Any]) -> Iterator[str]:
    if any(name in record for name in ("label", "labels", "annotations")):
        yield LABEL


def _labels_of(record: Mapping[str, Any], _name: str | None, passed: Passed, file: str) -> Iterator[GivenLabel]:
    for one in listed(record, "annotations"):
        label = one_label(one.get("label"))
        if "start_offset" in one:
            passed["spans"] += 1
        elif label is None:
            passed[SEVERAL] += 1
        else:
            yield GivenLabel(text_of(one.get("user")), label)
    for kind in ("entities", "relations", "sentences", "Comments"):
        if record.get(kind):
            passed[kind.lower()] += len(record[kind])
    given = record.get("label", record.get("labels"))
    if given is None:
        return
    if isinstance(given, list) and any(isinstance(one, list) for one in given):
        passed["spans"] += len(given)
        return
    label = one_label(given)
    if label is None:
        passed[SEVERAL] += 1
    else:
        yield GivenLabel(text_of(record.get("username")) or ("" if file in _ALL else file), label)


TOOL = Tool(_names_of, _labels_of, ids=("id", "doc_id"))
