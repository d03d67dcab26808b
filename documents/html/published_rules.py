"""The rules for a Natural Questions file that every tool for the format can read.

Published files follow each of these rules, and at least one tool fails without it. The reference page
"Natural Questions files" names the tool and the failure.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, compress
from operator import itemgetter, le, lt, not_
from typing import Any

_OPENING = re.compile(r"<([A-Z][a-z0-9]*)( colspan=\"[^\"]+\")?>")
_CLOSING = re.compile(r"</([A-Z][a-z0-9]*)>")
CANDIDATE_NAMES = frozenset(("P", "Table", "Tr", "Ul", "Ol", "Dl", "Li", "Dd", "Dt"))
_OFFSETS = ("start_byte", "end_byte", "start_token", "end_token")
_ORIGINAL_FIELDS = {
    "annotations": list,
    "document_html": str,
    "document_title": str,
    "document_tokens": list,
    "document_url": str,
    "example_id": int,
    "long_answer_candidates": list,
    "question_text": str,
    "question_tokens": list,
}
_SIMPLIFIED_FIELDS = {
    "annotations": list,
    "document_text": str,
    "document_url": str,
    "example_id": int,
    "long_answer_candidates": list,
    "question_text": str,
}

_TOKEN_FIELDS = {"token": str, "start_byte": int, "end_byte": int, "html_token": bool}
_INSIDE = bytes(byte & 0xC0 == 0x80 for byte in range(256))  # of UTF-8

KNOWN_FIELDS = frozenset((*_ORIGINAL_FIELDS, *_SIMPLIFIED_FIELDS))

Problem = tuple[str, str]  # (field, what is wrong)


@dataclass
class Checker:
    """Check records one after another; ids are remembered, so one checker serves all files of a set.

    Files of questions without annotations (``unlabeled``), such as those of a hidden test set, may lack annotations.
    """

    example_ids: set[int]
    annotation_ids: set[int]

    def __init__(self, *, unlabeled: bool = False) -> None:
        self._unlabeled = unlabeled
        self.example_ids = set()
        self.annotation_ids = set()

    def problems(self, record: dict[str, Any]) -> Iterator[Problem]:
        """Yield everything that is wrong with one record, original or simplified."""
        if self._unlabeled:
            record = {"annotations": [], **record}
        simplified = "document_text" in record and "document_tokens" not in record
        missing = list(_fields(record, _SIMPLIFIED_FIELDS if simplified else _ORIGINAL_FIELDS, ""))
        if missing:
            yield from missing
            return
        yield from self._example_id(record["example_id"])
        if not record["question_text"].strip():
            yield "question_text", "is empty"
        if simplified:
            tokens = [
                {"token": text, "html_token": text.startswith("<") and text.endswith(">")}
                for text in record["document_text"].split(" ")
            ]
            view = _View(tokens, has_bytes=False)
        else:
            yield from _question_tokens(record["question_tokens"])
            wrong = [] if _tokens_hold(record) else list(_tokens(record))
            if wrong:
                yield from wrong
                return
            view = _View(record["document_tokens"], has_bytes=True)
        wrong = list(_candidates(record["long_answer_candidates"], view))
        yield from wrong
        if not wrong:
            for index, annotation in enumerate(record["annotations"]):
                yield from self._annotation(f"annotations[{index}]", annotation, record, view)

    def _example_id(self, example_id: int) -> Iterator[Problem]:
        if not -(2**63) <= example_id < 2**63:
            yield "example_id", "does not fit a signed 64-bit integer"
        if example_id in self.example_ids:
            yield "example_id", f"{example_id} stands twice in this set"
        self.example_ids.add(example_id)

    def _annotation(self, where: str, annotation: Any, record: dict[str, Any], view: "_View") -> Iterator[Problem]:
        fields = {"annotation_id": int, "long_answer": dict, "short_answers": list, "yes_no_answer": str}
        wrong = list(_fields(annotation, fields, where))
        if wrong:
            yield from wrong
            return
        if not 0 <= annotation["annotation_id"] < 2**64:
            yield f"{where}.annotation_id", "does not fit an unsigned 64-bit integer"
        if annotation["annotation_id"] in self.annotation_ids:
            yield f"{where}.annotation_id", "stands twice in this set"
        self.annotation_ids.add(annotation["annotation_id"])
        long_answer = annotation["long_answer"]
        wrong = list(_long_answer(f"{where}.long_answer", long_answer, record["long_answer_candidates"], view))
        yield from wrong
        if not wrong:
            yield from _short_answers(where, annotation, long_answer, view)


@dataclass(frozen=True, slots=True)
class _View:
    """The tokens of a record, with their byte ranges where the format has them."""

    tokens: list[dict[str, Any]]
    has_bytes: bool

    @property
    def offsets(self) -> tuple[str, ...]:
        return _OFFSETS if self.has_bytes else _OFFSETS[2:]


def _fields(record: Any, fields: dict[str, type], where: str) -> Iterator[Problem]:
    prefix = f"{where}." if where else ""
    if not isinstance(record, dict):
        yield where or "record", "is not an object"
        return
    for name, kind in fields.items():
        if name not in record:
            yield f"{prefix}{name}", "is missing"
        elif not isinstance(record[name], kind) or (kind is int and isinstance(record[name], bool)):
            yield f"{prefix}{name}", f"is not of type {kind.__name__}"


def _question_tokens(tokens: list[Any]) -> Iterator[Problem]:
    for index, token in enumerate(tokens):
        if not isinstance(token, str) or not token or any(map(str.isspace, token)):
            yield f"question_tokens[{index}]", "is not a word"


def _tokens_hold(record: dict[str, Any]) -> bool:
    """Return whether `_tokens` would find no errors in a page's tokens; faster, because it checks whole columns."""
    tokens, html = record["document_tokens"], record["document_html"].encode("utf-8", "surrogatepass")
    try:
        texts, starts, ends, tags = (list(map(itemgetter(name), tokens)) for name in _TOKEN_FIELDS)
    except (KeyError, TypeError):
        return False
    columns = zip((texts, starts, ends, tags), _TOKEN_FIELDS.values(), strict=True)
    if not tokens or any(set(map(type, column)) != {kind} for column, kind in columns):
        return False
    if starts[0] < 0 or ends[-1] > len(html) or not all(map(lt, starts, ends)) or not all(map(le, ends, starts[1:])):
        return False
    inside = html.translate(_INSIDE) + b"\0"  # 1 for bytes inside of a character
    if any(map(inside.__getitem__, starts)) or any(map(inside.__getitem__, ends)):
        return False
    if any(word.split() != [word] for word in set(compress(texts, map(not_, tags)))):
        return False
    open_tags: list[str] = []
    wrong = (
        _token_text("", tokens[at], html[starts[at] : ends[at]], open_tags) for at in compress(range(len(tags)), tags)
    )
    return next(chain.from_iterable(wrong), None) is None


def _tokens(record: dict[str, Any]) -> Iterator[Problem]:
    if not record["document_tokens"]:
        yield "document_tokens", "is empty"
    html = record["document_html"].encode("utf-8", "surrogatepass")
    previous = 0
    open_tags: list[str] = []
    for index, token in enumerate(record["document_tokens"]):
        where = f"document_tokens[{index}]"
        wrong = list(_fields(token, _TOKEN_FIELDS, where))
        if wrong:
            yield from wrong
            continue
        start, end = token["start_byte"], token["end_byte"]
        if not 0 <= start < end <= len(html):
            yield f"{where}.start_byte", f"{start}:{end} is not a range of the page's {len(html)} bytes"
            continue
        if start < previous:
            yield f"{where}.start_byte", "stands before the end of the token before it"
        previous = end
        if any(at < len(html) and html[at] & 0xC0 == 0x80 for at in (start, end)):
            yield f"{where}.start_byte", "is not at the border of a UTF-8 character"
            continue
        yield from _token_text(where, token, html[start:end], open_tags)


def _token_text(where: str, token: dict[str, Any], source: bytes, open_tags: list[str]) -> Iterator[Problem]:
    text = token["token"]
    if not text:
        yield f"{where}.token", "is empty"
    elif not token["html_token"]:
        if any(map(str.isspace, text)):
            yield f"{where}.token", "a word holds white space"
    elif not (source.startswith(b"<") and source.endswith(b">")):
        yield f"{where}.start_byte", "the bytes of a tag token are not a tag"
    elif opening := _OPENING.fullmatch(text):
        open_tags.append(opening[1])
    elif closing := _CLOSING.fullmatch(text):
        if closing[1] not in open_tags:
            yield f"{where}.token", f"{text} closes nothing"
        else:
            while open_tags.pop() != closing[1]:
                pass
    else:
        yield f"{where}.token", f"{text!r} is not written like a tag token"


def _candidates(candidates: list[Any], view: _View) -> Iterator[Problem]:
    previous_start = -1
    enclosing: list[int] = []
    for index, box in enumerate(candidates):
        where = f"long_answer_candidates[{index}]"
        wrong = list(_fields(box, {**dict.fromkeys(view.offsets, int), "top_level": bool}, where))
        wrong = wrong or list(_span(where, box, view))
        if wrong:
            yield from wrong
            continue
        start, end = box["start_token"], box["end_token"]
        if start <= previous_start:
            yield f"{where}.start_token", "candidates are not in document order"
        previous_start = start
        opening = _OPENING.fullmatch(view.tokens[start]["token"].replace("_", " "))
        if opening is None or opening[1] not in CANDIDATE_NAMES:
            yield f"{where}.start_token", "does not start at the tag of a paragraph, list, table or part of one"
        while enclosing and enclosing[-1] <= start:
            enclosing.pop()
        if enclosing and end > enclosing[-1]:
            yield f"{where}.end_token", "crosses the candidate that it starts in"
        if box["top_level"] != (not enclosing):
            yield f"{where}.top_level", "is not whether another candidate encloses this one"
        enclosing.append(end)


def _span(where: str, span: dict[str, Any], view: _View) -> Iterator[Problem]:
    """Check that token and byte ranges are valid, and that both describe the same text."""
    start, end = span["start_token"], span["end_token"]
    if not 0 <= start < end <= len(view.tokens):
        yield f"{where}.start_token", f"{start}:{end} is not a range of the page's {len(view.tokens)} tokens"
    elif view.has_bytes:
        if span["start_byte"] != view.tokens[start]["start_byte"]:
            yield f"{where}.start_byte", "is not where its first token starts"
        if span["end_byte"] != view.tokens[end - 1]["end_byte"]:
            yield f"{where}.end_byte", "is not where its last token ends"


def _long_answer(
    where: str, answer: dict[str, Any], candidates: list[dict[str, Any]], view: _View
) -> Iterator[Problem]:
    wrong = list(_fields(answer, dict.fromkeys(("candidate_index", *view.offsets), int), where))
    if wrong:
        yield from wrong
        return
    index = answer["candidate_index"]
    if not -1 <= index < len(candidates):
        yield f"{where}.candidate_index", "is not the index of a candidate"
        return
    expected = dict.fromkeys(view.offsets, -1) if index == -1 else candidates[index]
    for name in view.offsets:
        if answer[name] != expected[name]:
            what = "is not -1 though there is no long answer" if index == -1 else "is not that of its candidate"
            yield f"{where}.{name}", what


def _short_answers(
    where: str, annotation: dict[str, Any], long_answer: dict[str, Any], view: _View
) -> Iterator[Problem]:
    spans, yes_no = annotation["short_answers"], annotation["yes_no_answer"]
    if yes_no not in ("YES", "NO", "NONE"):
        yield f"{where}.yes_no_answer", "is not YES, NO or NONE"
    if yes_no in ("YES", "NO") and spans:
        yield f"{where}.yes_no_answer", "stands beside short answers"
    if long_answer["candidate_index"] == -1 and (spans or yes_no != "NONE"):
        yield f"{where}.short_answers", "stand without a long answer"
        return
    previous = long_answer["start_token"]
    for index, span in enumerate(spans):
        place = f"{where}.short_answers[{index}]"
        wrong = list(_fields(span, dict.fromkeys(view.offsets, int), place)) or list(_span(place, span, view))
        if wrong:
            yield from wrong
            continue
        start, end = span["start_token"], span["end_token"]
        if start < long_answer["start_token"] or end > long_answer["end_token"]:
            yield f"{place}.start_token", "lies outside the long answer"
        elif start < previous:
            yield f"{place}.start_token", "overlaps the one before or is not in order"
        if all(token["html_token"] for token in view.tokens[start:end]):
            yield f"{place}.start_token", "holds no word"
        previous = end
