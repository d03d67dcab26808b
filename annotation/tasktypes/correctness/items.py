"""Answers of systems to be judged: a question, its reference answers, and one answer.

The item says nothing of the system. The same answer of several systems is one item: its id is made of the answer.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from annotation.tasktypes.base import NewItem
from storage.tables.faults import RowError
from storage.tables.values import text_of, texts_of

MOST_CHARACTERS = 20_000
MOST_REFERENCES = 50
MOST_ID = 150


def item_from_row(row: Mapping[str, Any]) -> NewItem:
    """Return the item of a row: the id and text of a question, its references, and an answer."""
    question_id = _text(row, "question_id")
    if len(question_id) > MOST_ID:
        raise RowError(f"an id holds at most {MOST_ID} characters", "question_id")
    content: dict[str, Any] = {
        "question_id": question_id,
        "question": _text(row, "question"),
        "references": _references(row),
    }
    answer = _text(row, "answer")
    content["answer"] = answer
    identity = json.dumps(content, ensure_ascii=False, sort_keys=True)
    return NewItem(
        f"{question_id} {hashlib.sha256(answer.encode()).hexdigest()[:16]}", content, identity, question=question_id
    )


def plain(text: str) -> str:
    """Return a text without blanks at its ends and with single blanks inside."""
    return " ".join(text.split())


def _references(row: Mapping[str, Any]) -> list[str]:
    found = texts_of(row.get("references"), "references")
    if len(found) > MOST_REFERENCES or any(len(text) > MOST_CHARACTERS for text in found):
        raise RowError(f"at most {MOST_REFERENCES} references of {MOST_CHARACTERS:,} characters", "references")
    return found


def _text(row: Mapping[str, Any], column: str) -> str:
    text = plain(text_of(row.get(column)))
    if not text:
        raise RowError("is empty", column)
    if len(text) > MOST_CHARACTERS:
        raise RowError(f"more than {MOST_CHARACTERS:,} characters", column)
    return text
