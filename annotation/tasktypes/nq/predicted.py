"""A system's prediction as an answer to an item, for experts who judge it like an annotator's."""

from bisect import bisect_left
from collections.abc import Sequence

from annotation.tasktypes.base import Answer, AnswerError, Offsets
from annotation.tasktypes.nq.answers import GOOD, NO, NO_ANSWER, NONE, SPANS, YES, clean_spans
from documents.html.tokens import Tokenization
from storage.tables.faults import RowError

KINDS = {"yes": YES, "no": NO}


def answer_predicted(long: Offsets | None, shorts: Sequence[Offsets], yes_no: str, page: Tokenization) -> Answer:
    """Return the answer that a prediction gives: its box, and its short answer if that lies inside the box.

    An annotator can't give a short answer without a long answer, so a prediction can't either.

    Raises
    ------
    RowError
        The long answer isn't a box of the page.
    """
    box, kind, spans = NO_ANSWER, NONE, list[list[int]]()
    if long is not None:
        box = _box(long, page)
        spans = _spans(shorts, page, box)
        kind = SPANS if spans else KINDS.get(yes_no, NONE)
    return {
        "question": {"first": GOOD, "label": GOOD, "reason": ""},
        "long_answer": {"candidate_index": box, "reason": ""},
        "short_answer": {"kind": kind, "spans": spans},
    }


def _box(long: Offsets, page: Tokenization) -> int:
    """Return the index of the candidate with these offsets."""
    start_byte, end_byte, start, end = long
    for index, box in enumerate(page.candidates):
        of_tokens, of_bytes = (box.start_token, box.end_token), (box.start_byte, box.end_byte)
        if (start, end) == of_tokens or (start < 0 and (start_byte, end_byte) == of_bytes):
            return index
    where = f"tokens {start} to {end}" if start >= 0 else f"bytes {start_byte} to {end_byte}"
    raise RowError(f"{where} aren't a box of the page", "long_answer")


def _spans(shorts: Sequence[Offsets], page: Tokenization, box: int) -> list[list[int]]:
    """Return the spans of a short answer; empty if they aren't a short answer in this box."""
    sent = [list(pair) for pair in dict.fromkeys(_tokens(span, page) for span in shorts)]
    try:
        return clean_spans(sent, page, page.candidates[box])
    except AnswerError:
        return []


def _tokens(span: Offsets, page: Tokenization) -> tuple[int, int]:
    """Return the token range of a span, found by its bytes if its tokens aren't known."""
    start_byte, end_byte, start, end = span
    return (start, end) if start >= 0 else (bisect_left(page.starts, start_byte), bisect_left(page.starts, end_byte))
