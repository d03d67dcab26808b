"""TREC's qrels (question, iteration, answer, grade) and runs (question, Q0, answer, rank, score, name).

Grades are known answers, including negative ones; the rows of a run have no answers.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sources.rules.faults import RecordFault
from sources.rules.tools.tool import GivenLabel, Passed, Tool

_QRELS, _RUN = 4, 6
GRADE = "grade"


def record_of(line: str) -> Mapping[str, Any]:
    """Return the record of a line.

    Raises
    ------
    RecordFault
    """
    parts = line.split()
    if len(parts) not in (_QRELS, _RUN):
        raise RecordFault("line", f"has {len(parts)} columns: a line of qrels has {_QRELS}, a line of a run {_RUN}")
    found = {"id": f"{parts[0]} {parts[2]}", "question_id": parts[0], "answer_id": parts[2]}
    if len(parts) == _RUN:
        return found | {"rank": parts[3], "score": parts[4], "run": parts[5]}
    if not parts[3].removeprefix("-").isdecimal():
        raise RecordFault(GRADE, f"{parts[3][:40]!r} isn't a whole number")
    return found | {GRADE: parts[3]}


def _names_of(_record: Mapping[str, Any]) -> Iterator[str]:
    yield GRADE


def _labels_of(record: Mapping[str, Any], _name: str | None, _passed: Passed, _file: str) -> Iterator[GivenLabel]:
    if GRADE in record:
        yield GivenLabel("", record[GRADE], is_truth=True)


TOOL = Tool(_names_of, _labels_of, record_of=record_of)
