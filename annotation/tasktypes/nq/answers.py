"""Answers of the Natural Questions process: question, long answer, short answer.

An answer is a JSON object::

    {"question":     {"first": "good"|"bad", "reason": str, "label": "good"|"bad"},
     "long_answer":  {"candidate_index": int, "reason": ""|"absent"|"spread"},
     "short_answer": {"kind": "spans"|"yes"|"no"|"none", "spans": [[start_token, end_token], …]}}

``first`` is the judgment made before the page was shown and never changes; ``label`` is the last
one. ``candidate_index`` is -1 for no long answer. Spans are half-open token ranges inside the long
answer, sorted, apart from each other, and start and end on words.
(Kwiatkowski et al. 2019, section 3.2.)
"""

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from annotation.tasktypes.base import Answer, AnswerError, Draft
from documents.html.tokens import Candidate, Tokenization

GOOD, BAD = "good", "bad"
# Section 3.2: what makes a question bad.
BAD_REASONS = ("ambiguous", "incomprehensible", "false_presupposition", "opinion", "not_a_request")
NO_ANSWER = -1
NULL_REASONS = ("absent", "spread")
SPANS, YES, NO, NONE = "spans", "yes", "no", "none"
MAX_SPANS = 100
CLOSING = frozenset(".,;:!?)]}%”’")  # stand close to the word before, also where a tag lies between


def question_sent(draft: Draft, sent: Mapping[str, Any]) -> Draft:
    """Return the draft with a stage-1 judgment; the first one never changes, later ones are stored beside it."""
    label, reason = sent.get("label"), str(sent.get("reason") or "")
    if label not in (GOOD, BAD):
        raise AnswerError("question_label", "label")
    if reason and (label == GOOD or reason not in BAD_REASONS):
        raise AnswerError("question_reason", "reason")
    before = draft.get("question")
    first = before["first"] if before else label
    changed = {**draft, "question": {"first": first, "label": label, "reason": reason}}
    changed["done"] = ["question"]
    return changed


def long_answer_sent(draft: Draft, sent: Mapping[str, Any], page: Tokenization) -> Draft:
    """Return the draft with the chosen box, or with none; a short answer outside the box is removed."""
    index = _whole_number(sent.get("candidate_index"), "candidate_index")
    reason = str(sent.get("reason") or "")
    if not NO_ANSWER <= index < len(page.candidates):
        raise AnswerError("box_unknown", "candidate_index")
    if reason and (index != NO_ANSWER or reason not in NULL_REASONS):
        raise AnswerError("box_reason", "reason")
    changed = {
        **draft,
        "long_answer": {"candidate_index": index, "reason": reason},
        "done": ["question", "long_answer"],
    }
    kept = draft.get("short_answer")
    if kept and (index == NO_ANSWER or not _all_inside(kept["spans"], page.candidates[index])):
        del changed["short_answer"]
    return changed


def short_answer_sent(draft: Draft, sent: Mapping[str, Any], page: Tokenization) -> Draft:
    """Return the draft with a short answer inside the chosen box."""
    index = draft.get("long_answer", {}).get("candidate_index", NO_ANSWER)
    if index == NO_ANSWER:
        raise AnswerError("short_without_long", "kind")
    kind = sent.get("kind")
    if kind not in (SPANS, YES, NO, NONE):
        raise AnswerError("short_kind", "kind")
    spans = clean_spans(sent.get("spans") or [], page, page.candidates[index])
    if (kind == SPANS) != bool(spans):
        raise AnswerError("spans_missing", "spans")
    done = ["question", "long_answer", "short_answer"]
    return {**draft, "short_answer": {"kind": kind, "spans": spans}, "done": done}


def clean_spans(sent: Any, page: Tokenization, box: Candidate) -> list[list[int]]:
    """Return spans sorted, snapped to words, or raise `AnswerError`."""
    if not isinstance(sent, list) or len(sent) > MAX_SPANS:
        raise AnswerError("spans_too_many", "spans", most=MAX_SPANS)
    spans = []
    for pair in sent:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise AnswerError("span_form", "spans")
        start, end = (_whole_number(number, "spans") for number in pair)
        if not box.start_token <= start < end <= box.end_token:
            raise AnswerError("span_outside", "spans")
        while start < end and page.tokens[start].html_token:
            start += 1
        while end > start and page.tokens[end - 1].html_token:
            end -= 1
        if start == end:
            raise AnswerError("span_without_word", "spans")
        spans.append([start, end])
    spans.sort()
    if any(left[1] > right[0] for left, right in itertools.pairwise(spans)):
        raise AnswerError("spans_overlap", "spans")
    return spans


def finished_answer(draft: Draft, page: Tokenization) -> Answer:
    """Return the answer of a finished draft, checked from the start."""
    if current_stage(draft) is not None:
        raise AnswerError("answer_unfinished", str(current_stage(draft)))
    checked = question_sent({"question": draft["question"]}, draft["question"])
    long_answer: dict[str, Any] = {"candidate_index": NO_ANSWER, "reason": ""}
    short_answer: dict[str, Any] = {"kind": NONE, "spans": []}
    if draft["question"]["label"] == GOOD:
        checked = long_answer_sent(checked, draft["long_answer"], page)
        long_answer = checked["long_answer"]
        if long_answer["candidate_index"] != NO_ANSWER:
            short_answer = short_answer_sent(checked, draft["short_answer"], page)["short_answer"]
    return {"question": checked["question"], "long_answer": long_answer, "short_answer": short_answer}


def current_stage(draft: Draft) -> str | None:
    """Return the first unfinished stage; None if the answer is complete."""
    done = draft.get("done", [])
    if "question" not in done:
        return "question"
    if draft["question"]["label"] == BAD:
        return None
    if "long_answer" not in done:
        return "long_answer"
    if draft["long_answer"]["candidate_index"] == NO_ANSWER:
        return None
    return None if "short_answer" in done else "short_answer"


def step_back(draft: Draft) -> Draft:
    """Return the draft with its last stage reopened; earlier choices there stay as a suggestion."""
    done = list(draft.get("done", []))
    if done:
        done.pop()
    return {**draft, "done": done}


def long_answer_tokens(answer: Answer, page: Tokenization) -> list[str]:
    """Return the words of the long answer (empty for none)."""
    index = answer["long_answer"]["candidate_index"]
    if index == NO_ANSWER:
        return []
    box = page.candidates[index]
    return page.words(box.start_token, box.end_token)


def span_text(span: list[int], page: Tokenization) -> str:
    """Return the text of a span as it is exported: its words joined by blanks, without tags."""
    return " ".join(page.words(span[0], span[1]))


def reading_text(span: Sequence[int], page: Tokenization, *, most: int = 60) -> str:
    """Return the first words of a span for a person to read: a blank where the page has something between two."""
    tags, text, end, words = frozenset(page.tags), "", None, 0
    for number in range(span[0], span[1]):
        if number in tags:
            continue
        if words == most:
            return f"{text} …"
        word = page.texts[number]
        joined = end is None or page.starts[number] == end or word in CLOSING
        text += word if joined else f" {word}"
        end, words = page.ends[number], words + 1
    return text


def path_of(answer: Answer) -> str:
    """Return the end of the annotator's path: bad question, no answer, long only, short, or yes/no."""
    if answer["question"]["label"] == BAD:
        return "bad_question"
    if answer["long_answer"]["candidate_index"] == NO_ANSWER:
        return "no_answer"
    kind = answer["short_answer"]["kind"]
    return "yes_no" if kind in (YES, NO) else "short_answer" if kind == SPANS else "long_only"


def _all_inside(spans: list[list[int]], box: Candidate) -> bool:
    return all(box.start_token <= start < end <= box.end_token for start, end in spans)


def _whole_number(value: Any, field: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise AnswerError("whole_number", field)
    try:
        return int(value)
    except ValueError as error:
        raise AnswerError("whole_number", field) from error


MAX_SPANS_CHARACTERS = 10_000


def spans_from(text: str) -> list[list[int]]:
    """Return the spans that a form sent: a short JSON list of pairs of whole numbers.

    Raises
    ------
    AnswerError
        The text isn't such a list.
    """
    try:
        spans = json.loads(text or "[]") if len(text) <= MAX_SPANS_CHARACTERS else None
    except (ValueError, RecursionError):
        spans = None
    pairs = isinstance(spans, list) and all(
        isinstance(span, list) and len(span) == 2 and all(type(number) is int for number in span) for span in spans
    )
    if not pairs:
        raise AnswerError("spans_form", "spans")
    return cast(list[list[int]], spans)
