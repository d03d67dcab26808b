"""Examples of Natural Questions as the trained baselines read them: from the original format, the simplified one, or ours."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from documents.html.published import PublishedError, read_records
from evaluation.files import EvaluationError
from storage.lines import DamagedFile

_HTML = re.compile(r"<[^ ]+>")


class Box(NamedTuple):
    """A long answer candidate: a half-open range of tokens."""

    start: int
    end: int
    is_top: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer in one annotation: index of its box, its short answers as half-open token ranges, YES, NO or NONE."""

    box: int
    shorts: tuple[tuple[int, int], ...] = ()
    yes_no: str = "NONE"


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its page; ``words`` has an empty text for each token of HTML."""

    example_id: int
    question: str
    tokens: list[str]
    words: list[str]
    bytes: list[tuple[int, int]]  # of each token in the page; none in the simplified format
    boxes: list[Box]
    answers: list[Answer]  # of the annotations that have a long answer

    def opens(self, box: Box) -> str:
        """Return the tag that a box begins with."""
        return self.tokens[box.start]

    def bytes_of(self, start: int, end: int) -> tuple[int, int]:
        """Return the bytes of a half-open range of tokens; -1 where the format has none."""
        return (self.bytes[start][0], self.bytes[end - 1][1]) if self.bytes else (-1, -1)


def read_examples(paths: Iterable[Path]) -> Iterator[Example]:
    """Yield the examples of files, one in memory at a time.

    Raises
    ------
    EvaluationError
        A file can't be read, or a record isn't one of Natural Questions; names file, line and field.
    """
    for path in sorted(paths):
        try:
            with path.open("rb") as file:
                for line, record in read_records(file):
                    yield _example(record, f"{path}: line {line}")
        except PublishedError as error:
            where = f"line {error.line}: " if error.line else ""
            raise EvaluationError(f"{path}: {where}{error}") from error
        except (DamagedFile, OSError) as error:
            raise EvaluationError(f"{path}: {error}") from error


def _example(record: Mapping[str, Any], where: str) -> Example:
    try:
        tokens, is_html = _tokens(record)
        offsets = [(one["start_byte"], one["end_byte"]) for one in record.get("document_tokens", ())]
        boxes = [
            Box(one["start_token"], one["end_token"], bool(one["top_level"]))
            for one in record["long_answer_candidates"]
        ]
        answers = [_answer(one) for one in record.get("annotations", []) if one["long_answer"]["candidate_index"] >= 0]
        example_id, question = int(record["example_id"]), str(record["question_text"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise EvaluationError(f"{where}: isn't an example of Natural Questions: {error!r}") from error
    for number, box in enumerate(boxes):
        if not 0 <= box.start < box.end <= len(tokens):
            raise EvaluationError(f"{where}: long_answer_candidates[{number}] lies outside the {len(tokens)} tokens")
    for answer in answers:
        ends = [end for _start, end in answer.shorts]
        if answer.box >= len(boxes) or not all(0 <= start < end <= len(tokens) for start, end in answer.shorts):
            raise EvaluationError(f"{where}: annotations: box {answer.box} or a short answer {ends} isn't on this page")
    words = ["" if html else token.replace(" ", "") for token, html in zip(tokens, is_html, strict=True)]
    return Example(example_id, question, tokens, words, offsets, boxes, answers)


def _tokens(record: Mapping[str, Any]) -> tuple[list[str], list[bool]]:
    """Return the tokens of a page, and which of them are HTML; the simplified format has them as one text."""
    if "document_tokens" in record:
        rows = record["document_tokens"]
        return [one["token"] for one in rows], [bool(one["html_token"]) for one in rows]
    tokens = record["document_text"].split(" ")
    return tokens, [_HTML.fullmatch(token) is not None for token in tokens]


def _answer(annotation: Mapping[str, Any]) -> Answer:
    shorts = tuple((one["start_token"], one["end_token"]) for one in annotation["short_answers"])
    return Answer(annotation["long_answer"]["candidate_index"], shorts, annotation["yes_no_answer"])
