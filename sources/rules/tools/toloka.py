"""Toloka's results: a TSV file with `INPUT:`, `OUTPUT:`, `GOLDEN:` and `ASSIGNMENT:` columns, quoted as CSV is.

References
----------
https://toloka.ai/docs/guide/result-of-eval
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sources.rules.tools.tool import SKIPPED, GivenLabel, Passed, Tool
from storage.tables.values import text_of

_OUTPUT, _GOLDEN, _WORKER, _STATUS = "OUTPUT:", "GOLDEN:", "ASSIGNMENT:worker_id", "ASSIGNMENT:status"


def _names_of(record: Mapping[str, Any]) -> Iterator[str]:
    yield from (column.removeprefix(_OUTPUT) for column in record if column.startswith(_OUTPUT))


def _labels_of(record: Mapping[str, Any], name: str | None, passed: Passed, _file: str) -> Iterator[GivenLabel]:
    for question in _names_of(record):
        if name not in (None, question):
            continue
        golden, label = text_of(record.get(_GOLDEN + question)).strip(), text_of(record[_OUTPUT + question]).strip()
        if golden:
            yield GivenLabel("", golden, is_truth=True)
        if text_of(record.get(_STATUS)) == "REJECTED":
            passed["rejected assignments"] += 1
        elif not label:
            passed[SKIPPED] += 1
        else:
            yield GivenLabel(text_of(record.get(_WORKER)), label)


TOOL = Tool(_names_of, _labels_of, ids=("INPUT:id", "ASSIGNMENT:task_id"), quoted=True)
