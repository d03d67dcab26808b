"""Read Natural Questions files in the original format: one JSON object per line, plain or gzip."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

import orjson

from documents.html.tokens import Candidate, Token, Tokenization
from storage.lines import MAX_LINE_BYTES, LineTooLong, read_lines, unzipped

SOURCE = "published"
_GZIP = b"\x1f\x8b"


class PublishedError(ValueError):
    """A published file doesn't follow its format; ``line`` says where, the message what."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class PublishedExample:
    """One example in its published form."""

    line: int
    example_id: str
    question_text: str
    question_tokens: list[str]
    document_title: str
    document_url: str
    document_html: str
    tokenization: Tokenization
    annotations: list[dict[str, Any]]


def read_records(file: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number, JSON object), one record in memory at a time.

    A file that is one pretty-printed JSON object is one record.

    Raises
    ------
    PublishedError
        A line is not a JSON object, or far too long.
    """
    start = file.read(2)
    file.seek(0)
    stream = unzipped(file) if start == _GZIP else file
    try:
        for number, line in read_lines(stream):
            if number == 1 and line.strip() == b"{":
                yield 1, _parse(line + stream.read(MAX_LINE_BYTES), 1)
                return
            if line.strip():
                yield number, _parse(line, number)
    except LineTooLong as error:
        raise PublishedError(0, str(error)) from error


def _parse(line: bytes, number: int) -> dict[str, Any]:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        try:  # ids beyond 64 bits are read as the integers they are
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise PublishedError(number, f"not JSON: {error}") from error
    if not isinstance(record, dict):
        raise PublishedError(number, "not a JSON object")
    return record


def example_of(number: int, record: dict[str, Any]) -> PublishedExample:
    """Return the example of a record that keeps the rules of the format."""
    tokens = [
        Token(token["token"], token["start_byte"], token["end_byte"], token["html_token"])
        for token in record["document_tokens"]
    ]
    candidates = [
        Candidate(box["start_byte"], box["end_byte"], box["start_token"], box["end_token"], box["top_level"])
        for box in record["long_answer_candidates"]
    ]
    question_text = record["question_text"]
    return PublishedExample(
        line=number,
        example_id=str(record["example_id"]),
        question_text=question_text,
        question_tokens=list(record.get("question_tokens") or question_text.split()),
        document_title=str(record.get("document_title", "")),
        document_url=str(record.get("document_url", "")),
        document_html=record["document_html"],
        tokenization=Tokenization.of(tokens, candidates),
        annotations=list(record.get("annotations", [])),
    )
