"""Items of the Natural Questions process: a question and the page that may answer it."""

import re
from collections.abc import Mapping
from typing import Any

from annotation.tasktypes.base import NewItem
from storage.tables.faults import RowError

# Names under which the field's files carry the same thing, in order of preference.
_ID_COLUMNS = ("external_id", "example_id", "id")
_QUESTION_COLUMNS = ("question_text", "question")
_DOCUMENT_COLUMNS = ("document", "page", "document_url", "document_title")
_PUBLISHED_ID = re.compile(r"-?\d{1,19}")
MAX_QUESTION_CHARACTERS = 2_000


def item_from_row(row: Mapping[str, Any]) -> NewItem:
    """Return the item of a row: an id, a question, and the name, address or title of a document."""
    external_id = _required(row, _ID_COLUMNS, "an id")
    question = _required(row, _QUESTION_COLUMNS, "the question")
    document = _required(row, _DOCUMENT_COLUMNS, "the name, address or title of its document")
    if len(question) > MAX_QUESTION_CHARACTERS:
        raise RowError(f"the question has more than {MAX_QUESTION_CHARACTERS:,} characters", "question_text")
    if len(external_id) > 200:
        raise RowError("the id has more than 200 characters", "external_id")
    published_id = str(row.get("example_id", "")).strip()
    return NewItem(
        external_id=external_id,
        content={"question_text": question},
        identity=question,
        document=document,
        published_id=published_id if _is_signed_64_bit(published_id) else None,
    )


def _is_signed_64_bit(text: str) -> bool:
    return bool(_PUBLISHED_ID.fullmatch(text)) and -(2**63) <= int(text) < 2**63


def _required(row: Mapping[str, Any], columns: tuple[str, ...], what: str) -> str:
    for column in columns:
        value = row.get(column)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            return str(value).strip()
    raise RowError(f"{what} is missing (column {' or '.join(columns)})", columns[0])
