"""Documents as lists of sentences; annotators ask about one sentence of each (NLPCC 2017, section 3)."""

from collections.abc import Mapping
from typing import Any

from annotation.tasktypes.base import AnswerError, NewItem
from annotation.tasktypes.writing.texts import one_line
from storage.tables.faults import RowError
from storage.tables.values import text_of

LEAST, MOST = 2, 200  # sentences of a document


def item_from_row(row: Mapping[str, Any]) -> NewItem:
    """Return the document of a row: a title, and sentences as a list or as the lines of a text."""
    title = _text(row.get("title", ""), "title", may_be_empty=True)
    given = row.get("sentences")
    if isinstance(given, str):
        given = given.splitlines()
    if not isinstance(given, list):
        raise RowError("expected a list of sentences, or a text with a sentence a line", "sentences")
    sentences = [_text(one, "sentences") for one in given if one != ""]
    if not LEAST <= len(sentences) <= MOST:
        raise RowError(f"a document has {LEAST} to {MOST} sentences, and this has {len(sentences)}", "sentences")
    if len(set(sentences)) < len(sentences):
        raise RowError("a sentence stands twice: which one answers could not be told", "sentences")
    identity = "\n".join([title, *sentences])
    # The first is what lists show: no more than who answers blind may read.
    content = {"question_text": title or sentences[0], "title": title, "sentences": sentences}
    return NewItem((text_of(row.get("id")) or title or identity)[:200], content, identity)


def _text(value: Any, column: str, *, may_be_empty: bool = False) -> str:
    try:
        text = one_line(value, column)
    except AnswerError as error:
        raise RowError(str(error), column) from error
    if not text and not may_be_empty:
        raise RowError("a sentence without words", column)
    return text
