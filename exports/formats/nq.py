"""Records of the Natural Questions release formats, original and simplified.

Every record is an object with sorted keys on one line, as in the published files.
(google-research-datasets/natural-questions, README, "Data format".)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from documents.html.tokens import Candidate, Tokenization
from documents.html.words import words

NULL_LONG_ANSWER = {"candidate_index": -1, "start_byte": -1, "end_byte": -1, "start_token": -1, "end_token": -1}


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its page, ready to be written. Ids are integers, as in the published files."""

    example_id: int
    question_text: str
    question_tokens: Sequence[str]
    document_title: str
    document_url: str
    document_html: str
    page: Tokenization


def question_tokens(text: str) -> list[str]:
    """Return the words of a question."""
    return words(text).texts


def annotation_record(annotation_id: int, answer: dict[str, Any], page: Tokenization) -> dict[str, Any]:
    """Return an answer in the original format, which has no field for bad questions: they become null answers."""
    index = answer["long_answer"]["candidate_index"]
    short = answer["short_answer"]
    return {
        "annotation_id": annotation_id,
        "long_answer": {**_candidate(page.candidates[index]), "candidate_index": index}
        if index >= 0
        else dict(NULL_LONG_ANSWER),
        "short_answers": [_span(page, start, end) for start, end in short["spans"]],
        "yes_no_answer": short["kind"].upper() if short["kind"] in ("yes", "no") else "NONE",
    }


def original_record(example: Example, annotations: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one record of the original format."""
    return {
        "annotations": annotations,
        "document_html": example.document_html,
        "document_title": example.document_title,
        "document_tokens": _tokens(example.page),
        "document_url": example.document_url,
        "example_id": example.example_id,
        "long_answer_candidates": [
            {**_candidate(candidate), "top_level": candidate.top_level} for candidate in example.page.candidates
        ],
        "question_text": example.question_text,
        "question_tokens": list(example.question_tokens),
    }


def simplified_record(example: Example, annotations: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one record of the simplified format: tokens joined by spaces, without byte offsets and HTML."""
    return {
        "annotations": [
            {
                "annotation_id": annotation["annotation_id"],
                "long_answer": _tokens_only(annotation["long_answer"], "candidate_index"),
                "short_answers": [_tokens_only(span) for span in annotation["short_answers"]],
                "yes_no_answer": annotation["yes_no_answer"],
            }
            for annotation in annotations
        ],
        "document_text": " ".join(text.replace(" ", "_") for text in example.page.texts),
        "document_url": example.document_url,
        "example_id": example.example_id,
        "long_answer_candidates": [
            {"end_token": box.end_token, "start_token": box.start_token, "top_level": box.top_level}
            for box in example.page.candidates
        ],
        "question_text": example.question_text,
    }


RECORDS = {"nq-original": original_record, "nq-simplified": simplified_record}


def shard_name(family: str, split: str, shard: int, shards: int) -> str:
    """Return a shard's file name in the form that the official tools expect."""
    if family == "nq-original":
        return f"nq-{split}-{shard:02d}.jsonl.gz"
    return f"simplified-nq-{split}.jsonl.gz" if shards == 1 else f"simplified-nq-{split}-{shard:02d}.jsonl.gz"


def _candidate(box: Candidate) -> dict[str, int]:
    return {
        "end_byte": box.end_byte,
        "end_token": box.end_token,
        "start_byte": box.start_byte,
        "start_token": box.start_token,
    }


def _tokens(page: Tokenization) -> list[dict[str, Any]]:
    rows = zip(page.texts, page.starts, page.ends, page.is_tag, strict=True)
    return [
        {"end_byte": end, "html_token": is_tag, "start_byte": start, "token": text} for text, start, end, is_tag in rows
    ]


def _span(page: Tokenization, start: int, end: int) -> dict[str, int]:
    return {
        "end_byte": page.ends[end - 1],
        "end_token": end,
        "start_byte": page.starts[start],
        "start_token": start,
    }


def _tokens_only(span: dict[str, int], *more: str) -> dict[str, int]:
    return {name: span[name] for name in ("end_token", "start_token", *more)}
