"""Potato's output: a folder per annotator with ``annotated_instances`` as JSON lines or TSV.

References
----------
https://github.com/davidjurgens/potato, ``docs/data_format.md``.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sources.rules.tools.tool import SEVERAL, GivenLabel, Passed, Tool, one_label
from storage.tables.values import text_of

_BETWEEN = ":::"  # between schema and label in the names of columns
_OFF = ("", "0", "false", "none", "null")


def _names_of(record: Mapping[str, Any]) -> Iterator[str]:
    yield from _chosen(record)


def _labels_of(record: Mapping[str, Any], name: str | None, passed: Passed, file: str) -> Iterator[GivenLabel]:
    worker = text_of(record.get("user", record.get("user_id"))) or file
    for schema, options in _chosen(record).items():
        if name not in (None, schema):
            continue
        label = one_label(options)
        if label is None:
            passed[SEVERAL] += 1
        else:
            yield GivenLabel(worker, label)
    if record.get("span_annotations"):
        passed["spans"] += len(record["span_annotations"])


def _chosen(record: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the chosen options in each schema."""
    found: dict[str, list[str]] = {}
    given = record.get("label_annotations")
    if isinstance(given, Mapping):
        for schema, options in given.items():
            found[schema] = [option for option, value in options.items() if text_of(value).lower() not in _OFF]
    for column, value in record.items():
        schema, between, option = column.partition(_BETWEEN)
        if between:
            found.setdefault(schema, [])
            if text_of(value).lower() not in _OFF:
                found[schema].append(option)
    return found


TOOL = Tool(_names_of, _labels_of, ids=("instance_id", "id"))
