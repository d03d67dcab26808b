"""The columns of a Natural Questions item and its answers in published tables."""

from typing import Any

import orjson

from annotation.tasktypes.columns import Column, Filled, Kind, of_key

OF_ITEMS = (of_key("question_text", Kind.TEXT, "The question.", is_source=True),)


def _part(stage: str, key: str, name: str, meaning: str, *, is_told: bool = False) -> Filled:
    return Filled(Column(name, Kind.TEXT, meaning), lambda answer: answer[stage][key], is_told)


def _box(answer: dict[str, Any]) -> int | None:
    index = answer["long_answer"]["candidate_index"]
    return index if index >= 0 else None


OF_ANSWERS = (
    _part("question", "first", "question_first_judgment", "good or bad, before the page was shown; it never changes."),
    _part("question", "label", "question_judgment", "good or bad, the last word."),
    _part("question", "reason", "question_reason", "Why the question is bad; empty if no reason was given."),
    Filled(
        Column(
            "candidate_index",
            Kind.INTEGER,
            "The long answer: which of the page's long_answer_candidates; null for none.",
        ),
        _box,
    ),
    _part("long_answer", "reason", "no_long_answer_reason", "absent, spread (over several boxes) or empty."),
    _part("short_answer", "kind", "short_answer_kind", "spans, yes, no or none.", is_told=True),
    Filled(
        Column(
            "short_answer_spans", Kind.JSON, "Half-open ranges of the page's tokens: [[start_token, end_token], …]."
        ),
        lambda answer: orjson.dumps(answer["short_answer"]["spans"]).decode(),
    ),
)
