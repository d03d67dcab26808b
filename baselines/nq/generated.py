"""A generated set that a reader can learn, in the original format: pages of `simulation`, tokens of our tokenizer."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from documents.html.canonical import canonical_text
from documents.html.markup import Page
from documents.html.tokens import Tokenization, tokenize
from exports.formats.nq import Example, annotation_record, original_record, question_tokens
from exports.writers.lines import write_lines
from simulation.learnable import Asked, LearnablePage, learnable_pages

IDS_APART = 20_000  # the published code numbers the windows of an example behind its id
_NO_ANSWER = {"long_answer": {"candidate_index": -1}, "short_answer": {"kind": "none", "spans": []}}


def generated_write(path: Path, *, questions: int, seed: int, ways: int) -> None:
    """Write a packed file of this many questions, each with this many equal annotations."""
    write_lines(path, generated_records(questions=questions, seed=seed, ways=ways))


def generated_records(*, questions: int, seed: int, ways: int) -> Iterator[dict[str, Any]]:
    """Yield records of the original format; the same seed gives the same ones."""
    for number, page in enumerate(learnable_pages(questions, seed), 1):
        yield _record(page, number, seed, ways)


def _record(page: LearnablePage, number: int, seed: int, ways: int) -> dict[str, Any]:
    text = canonical_text(page.html.encode())
    found = tokenize(Page(text))
    example_id = (seed * 1_000_000 + number) * IDS_APART
    example = Example(
        example_id,
        page.asked.question,
        question_tokens(page.asked.question),
        page.title,
        f"https://example.org/{number}",
        text,
        found,
    )
    answer = _answer(page.asked, found)
    return original_record(example, [annotation_record(example_id + way, answer, found) for way in range(ways)])


def _answer(asked: Asked, page: Tokenization) -> dict[str, Any]:
    """Return the right answer in Quorate's format: the box that contains it, and the span in that box."""
    if not asked.said:
        return _NO_ANSWER
    wanted = asked.said.split()
    holds = [
        (box.end_token - box.start_token, index)
        for index, box in enumerate(page.candidates)
        if _at(page, box.start_token, box.end_token, wanted) is not None
    ]
    index = (min(holds) if asked.nested else max(holds))[1]
    box = page.candidates[index]
    short: dict[str, Any] = {"kind": asked.yes_no.lower(), "spans": []}
    if asked.short:
        low = _at(page, box.start_token, box.end_token, wanted)
        span = _at(page, low or 0, box.end_token, asked.short.split())
        assert span is not None
        short = {"kind": "spans", "spans": [[span, span + len(asked.short.split())]]}
    return {"long_answer": {"candidate_index": index}, "short_answer": short}


def _at(page: Tokenization, start: int, end: int, words: list[str]) -> int | None:
    """Return the first token of these words in a range; None if they aren't there."""
    for place in range(start, end - len(words) + 1):
        if page.texts[place : place + len(words)] == words:
            return place
    return None
