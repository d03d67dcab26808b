"""Gold questions of Natural Questions: which answers they accept, and at which stage an answer misses them.

A gold question accepts alternatives. In a file, ``accepted`` is a list of objects; an answer must match one of them::

    {"question": "bad"}
    {"long_answer": -1}                                      # no answer on this page
    {"long_answer": [3, 5]}                                  # one of these boxes, any short answer
    {"long_answer": 3, "short_answer": "yes"}                # or "no", "none"
    {"long_answer": 3, "short_answer": [[12, 14], [20, 21]]}  # spans of tokens
    {"long_answer": "The harbour was built", "short_answer": "in 1871"}  # the same by quoting the page

A quoted long answer is the smallest box around the text. A quote that occurs several times is refused with its places.
Spans match if each shares a token with one of the gold question's spans, and the other way round: a gold question tests
whether the annotator reads, not where exactly they end a span.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.tasktypes.base import Accepted, Answer, AnswerError, Part
from annotation.tasktypes.nq.answers import BAD, GOOD, NO, NO_ANSWER, NONE, SPANS, YES, clean_spans
from annotation.tasktypes.nq.judging import part_add, passage_part, short_part
from annotation.tasktypes.nq.quotes import boxes_of_text, spans_of_text
from documents.html.tokens import Tokenization
from storage.tables.faults import RowError

MOST_ALTERNATIVES = 20


def accepted_from(row: Mapping[str, Any], page: Tokenization) -> Accepted:
    """Return the checked alternatives in a row of gold questions; ``long_answer`` is -1 or a list of boxes."""
    given = row.get("accepted")
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError) as error:
            raise RowError(f"no JSON: {error}", "accepted") from error
    alternatives = [given] if isinstance(given, dict) else given
    if not isinstance(alternatives, list) or not 0 < len(alternatives) <= MOST_ALTERNATIVES:
        raise RowError(f"expected a list of 1 to {MOST_ALTERNATIVES} accepted answers", "accepted")
    return [_alternative(one, page) for one in alternatives]


def _alternative(given: Any, page: Tokenization) -> dict[str, Any]:
    if not isinstance(given, dict) or set(given) - {"question", "long_answer", "short_answer"}:
        raise RowError("an accepted answer has question, long_answer and short_answer, and nothing else", "accepted")
    question = given.get("question", GOOD)
    if question not in (GOOD, BAD):
        raise RowError("question is good or bad", "accepted")
    if question == BAD:
        if "long_answer" in given or "short_answer" in given:
            raise RowError("a bad question has no answer", "accepted")
        return {"question": BAD}
    if given.get("long_answer") == NO_ANSWER:
        if "short_answer" in given:
            raise RowError("a short answer needs a long answer", "accepted")
        return {"long_answer": NO_ANSWER}
    boxes, short = _boxes(given.get("long_answer"), page), given.get("short_answer")
    if short is None:
        return {"long_answer": boxes}
    if short not in (YES, NO, NONE):
        if not isinstance(short, str | list):
            raise RowError("short_answer is yes, no, none, a text of the box, or a list of texts or spans", "accepted")
        short = _spans(short if isinstance(short, list) else [short], boxes, page)
    return {"long_answer": boxes, "short_answer": short}


def agreed_on(answers: Sequence[Answer]) -> Accepted | None:
    """Return an alternative that all answers match, without the short answer if only that differs; else None."""
    claims = [_claim(answer) for answer in answers]
    if all(claim == claims[0] for claim in claims):
        return [claims[0]]
    for claim in claims:
        claim.pop("short_answer", None)
    return [claims[0]] if all(claim == claims[0] for claim in claims) else None


def _claim(answer: Answer) -> dict[str, Any]:
    """Return an answer in the form of an alternative."""
    if answer["question"]["label"] == BAD:
        return {"question": BAD}
    box = answer["long_answer"]["candidate_index"]
    if box == NO_ANSWER:
        return {"long_answer": NO_ANSWER}
    short = answer["short_answer"]
    return {"long_answer": [box], "short_answer": short["spans"] if short["kind"] == SPANS else short["kind"]}


def _boxes(given: Any, page: Tokenization) -> list[int]:
    quoted = given if isinstance(given, list) else [given]
    boxes = [_box_quoted(one, page) if isinstance(one, str) else one for one in quoted]
    if not boxes or any(type(box) is not int for box in boxes):
        raise RowError("long_answer is the number of a box or a text in it, a list of them, or -1", "accepted")
    missing = [box for box in boxes if not 0 <= box < len(page.candidates)]
    if missing:
        raise RowError(f"there is no box {missing[0]} on this page of {len(page.candidates)}", "accepted")
    return sorted(set(boxes))


def _box_quoted(text: str, page: Tokenization) -> int:
    boxes = boxes_of_text(text, page)
    if not boxes:
        raise RowError(f"no box contains “{text}” in whole words", "accepted")
    if len(boxes) > 1:
        numbers = ", ".join(map(str, boxes))
        raise RowError(f"“{text}” is in the boxes {numbers}: quote more of the text, or enter the number", "accepted")
    return boxes[0]


def _span_quoted(text: str, box: int, page: Tokenization) -> list[int]:
    candidate = page.candidates[box]
    spans = spans_of_text(text, page, candidate.start_token, candidate.end_token)
    if not spans:
        raise RowError(f"box {box} doesn't contain “{text}” in whole words", "accepted")
    if len(spans) > 1:
        raise RowError(
            f"“{text}” stands in box {box} {len(spans)} times: quote more of it, or enter one of the spans {spans}",
            "accepted",
        )
    return spans[0]


def _spans(quoted: list[Any], boxes: list[int], page: Tokenization) -> list[list[int]]:
    given = [_span_quoted(one, boxes[0], page) if isinstance(one, str) else one for one in quoted]
    for box in boxes:
        try:
            spans = clean_spans(given, page, page.candidates[box])
        except AnswerError as error:
            raise RowError(f"in box {box}: {error}", "accepted") from error
    if not spans:
        raise RowError("a list of spans holds at least one", "accepted")
    return spans


def missed(accepted: Accepted, answer: Answer) -> str:
    """Return the stage at which an answer fails every alternative; empty if it matches one."""
    reached = ["question", "long_answer", "short_answer", ""]
    return max((_missed_one(one, answer) for one in accepted), key=reached.index)


def _missed_one(alternative: Mapping[str, Any], answer: Answer) -> str:
    wanted = alternative.get("question", GOOD)
    if answer["question"]["label"] != wanted:
        return "question"
    if wanted == BAD:
        return ""
    index, boxes = answer["long_answer"]["candidate_index"], alternative["long_answer"]
    if index not in (boxes if isinstance(boxes, list) else [boxes]):
        return "long_answer"
    return "" if _short_meets(alternative.get("short_answer"), answer["short_answer"]) else "short_answer"


def _short_meets(wanted: Any, short: Mapping[str, Any]) -> bool:
    if wanted is None:
        return True
    if isinstance(wanted, str):
        return bool(short["kind"] == wanted)
    given = short["spans"] if short["kind"] == SPANS else []
    return (
        bool(given) and all(_touches(span, wanted) for span in given) and all(_touches(span, given) for span in wanted)
    )


def _touches(span: Sequence[int], others: Sequence[Sequence[int]]) -> bool:
    return any(span[0] < other[1] and other[0] < span[1] for other in others)


def parts_of_key(accepted: Accepted) -> list[Part]:
    """Return the claims of a gold question: the question is bad, the page has no answer, or the answers on it."""
    found: dict[str, Part] = {}
    for one in accepted:
        boxes, short = one.get("long_answer"), one.get("short_answer")
        if one.get("question") == BAD:
            part_add(found, {"key": "bad", "what": "bad"})
        elif boxes == NO_ANSWER:
            part_add(found, {"key": "none", "what": "none"})
        for box in boxes if isinstance(boxes, list) else []:
            part_add(found, passage_part(box))
            if isinstance(short, list):
                part_add(found, short_part(box, SPANS, short))
            elif short is not None:
                part_add(found, short_part(box, short, []))
    return list(found.values())
