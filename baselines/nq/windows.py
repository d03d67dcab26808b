"""BERT joint's instances: windows over a page with markup, and the target of each (Alberti, Lee and Collins 2019).

A window is ``[CLS] [Q] question [SEP] piece of the page [SEP]``. The page is written out as its top-level boxes, each
behind ``[ContextId=n] [Paragraph=n]``, after ``[ContextId=-1] [NoLongAnswer]``.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from baselines.nq.examples import Answer, Box, Example
from baselines.nq.vocabulary import CLS, MOST_POSITIONS, NO_LONG_ANSWER, PAD, QUESTION, SEP, Vocabulary

Ints = npt.NDArray[np.int32]
_KIND_OF = {"<P>": "Paragraph", "<Table>": "Table", "<Ul>": "List", "<Ol>": "List", "<Dl>": "List"}
NO_TOKEN = -1


class Kind(IntEnum):
    """The kind of answer in a window, numbered like the published code."""

    NULL = 0
    YES = 1
    NO = 2
    SHORT = 3
    LONG = 4


@dataclass(frozen=True, slots=True)
class Shape:
    """The settings that turn pages into windows; the defaults are the paper's.

    Attributes
    ----------
    length, stride
        Pieces in a window, and from the start of a window to the start of the next.
    question
        The most pieces of a question, including ``[Q]``; a longer question keeps its end.
    contexts
        The number of boxes that are written out, counting the one that stands for no answer.
    skip_nested
        Leave out the boxes inside of others.
    as_published
        Place targets as the published code does, which misplaces answers in boxes that are not written out.
    blind
        Leave the question out: a control, which learns only what answers look like.
    """

    length: int = 512
    stride: int = 128
    question: int = 64
    contexts: int = 48
    skip_nested: bool = True
    as_published: bool = False
    blind: bool = False


class Target(NamedTuple):
    """The first and last piece of the page that hold the answer, and the kind of answer."""

    first: int
    last: int
    kind: Kind


NO_TARGET = Target(NO_TOKEN, NO_TOKEN, Kind.NULL)


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of one example.

    Attributes
    ----------
    ids, segments, tokens
        Shape (windows, length). ``tokens`` is the token of the document that a piece is of, -1 for all else.
    starts, ends, kinds
        Shape (windows,): first and last piece of the answer; 0, the position of ``[CLS]``, if there is no answer.
    """

    example_id: int
    ids: Ints
    segments: npt.NDArray[np.int8]
    tokens: Ints
    starts: Ints
    ends: Ints
    kinds: npt.NDArray[np.int8]

    def kept(self, share: float, seed: int) -> "Windows":
        """Return the windows with an answer, and this share of the others, drawn by seed and example."""
        digest = hashlib.sha256(f"{seed}:{self.example_id}".encode()).digest()
        drawn = np.random.default_rng(int.from_bytes(digest[:8])).random(len(self.kinds)) < share
        keep = (self.kinds != Kind.NULL) | drawn
        parts = (self.ids, self.segments, self.tokens, self.starts, self.ends, self.kinds)
        return Windows(self.example_id, *(part[keep] for part in parts))


class _Context(NamedTuple):
    """A box in written form: its place among all boxes, its kind with its number, and its range of pieces."""

    number: int
    name: str
    box: Box | None


def windows_of(example: Example, vocabulary: Vocabulary, shape: Shape) -> Windows:
    """Return the windows of an example, each with its target; without an annotation, all targets are "no answer"."""
    contexts = list(_contexts(example, shape))
    ids, tokens, begins = _written_out(example, contexts, vocabulary)
    target = _target(example, contexts, ids, tokens, begins, vocabulary, shape)
    question = [vocabulary[QUESTION]]
    for word in () if shape.blind else example.question.split():
        question += vocabulary.pieces(word)
    head = np.array([vocabulary[CLS], *question[-shape.question :], vocabulary[SEP]], dtype=np.int32)
    return _cut(example.example_id, head, ids, tokens, target, vocabulary, shape)


def _contexts(example: Example, shape: Shape) -> Iterator[_Context]:
    """Yield what is written out; numbers count the boxes of a kind, also those past the last that is written out."""
    yield _Context(-1, NO_LONG_ANSWER, None)
    seen: Counter[str] = Counter()
    written = 1
    for index, box in enumerate(example.boxes):
        if shape.skip_nested and not box.is_top:
            continue
        if written >= shape.contexts:
            return
        kind = _KIND_OF.get(example.opens(box), "Other")
        seen[kind] = min(seen[kind] + 1, MOST_POSITIONS)
        written += 1
        yield _Context(index, f"[{kind}={seen[kind]}]", box)


def _written_out(example: Example, contexts: list[_Context], vocabulary: Vocabulary) -> tuple[Ints, Ints, list[int]]:
    """Return the pieces of the page with their tokens, and where the words of each context begin."""
    ids: list[int] = []
    tokens: list[int] = []
    counts: list[int] = []
    begins: list[int] = []
    for context in contexts:
        ids += (vocabulary[f"[ContextId={context.number}]"], vocabulary[context.name])
        tokens += (NO_TOKEN, NO_TOKEN)
        counts += (1, 1)
        begins.append(len(ids))
        for token in range(context.box.start, context.box.end) if context.box is not None else ():
            word = example.words[token]
            if word:
                pieces = vocabulary.pieces(word)
                ids += pieces
                tokens.append(token)
                counts.append(len(pieces))
    return np.array(ids, dtype=np.int32), np.repeat(np.array(tokens, dtype=np.int32), counts), begins


def chosen(answers: list[Answer]) -> Answer | None:
    """Return the annotation to learn from: in order of boxes, the first with short answers, else the first."""
    in_order = sorted(answers, key=lambda answer: answer.box)
    return next((answer for answer in in_order if answer.shorts), in_order[0] if in_order else None)


def _target(
    example: Example,
    contexts: list[_Context],
    ids: Ints,
    tokens: Ints,
    begins: list[int],
    vocabulary: Vocabulary,
    shape: Shape,
) -> Target:
    answer = chosen(example.answers)
    if answer is None:
        return NO_TARGET
    kind = Kind.SHORT if answer.shorts else Kind[answer.yes_no] if answer.yes_no != "NONE" else Kind.LONG
    if shape.as_published and all(context.number != answer.box for context in contexts):
        return _misplaced(example, contexts, answer, kind, vocabulary)
    box = example.boxes[answer.box]
    start, end = (box.start, box.end) if kind is not Kind.SHORT else _short(answer, shape)
    place = _place(example, contexts, box, answer.box)
    if place is None:
        return NO_TARGET
    low = begins[place]
    high = begins[place + 1] - 2 if place + 1 < len(begins) else len(ids)
    own = np.flatnonzero((tokens[low:high] >= start) & (tokens[low:high] < end))
    return Target(low + int(own[0]), low + int(own[-1]), kind) if len(own) else NO_TARGET


def _short(answer: Answer, shape: Shape) -> tuple[int, int]:
    """Return the span of a short answer: the smallest around all parts; as published, from first to last part."""
    if shape.as_published:
        return answer.shorts[0][0], answer.shorts[-1][1]
    return min(start for start, _ in answer.shorts), max(end for _, end in answer.shorts)


def _place(example: Example, contexts: list[_Context], box: Box, index: int) -> int | None:
    """Return the index of the context that holds a box: its own, or that of a box around it."""
    around = None
    for place, context in enumerate(contexts):
        if context.number == index:
            return place
        if around is None and context.box is not None and context.box.start <= box.start < box.end <= context.box.end:
            around = place
    return around


def _misplaced(
    example: Example, contexts: list[_Context], answer: Answer, kind: Kind, vocabulary: Vocabulary
) -> Target:
    """Return where the published code looks for an answer whose box is not written out.

    It counts letters from the start of the box, but then applies that count from the start of the page.
    """
    box = example.boxes[answer.box]
    own = [token for token in range(box.start, box.end) if example.words[token]]
    begin = dict(zip(own, accumulate((len(example.words[one]) + 1 for one in own), initial=0), strict=False))
    total = sum(len(example.words[token]) + 1 for token in own) - 1
    low, high = 0, total
    if kind is Kind.SHORT:
        start, end = answer.shorts[0][0], answer.shorts[-1][1]
        inside = [token for token in own if start <= token < end]
        if not inside:
            return NO_TARGET
        low = begin[inside[0]]
        high = begin[inside[-1]] + len(example.words[inside[-1]])
    at, piece, first, last = 0, 0, NO_TOKEN, NO_TOKEN
    for word in _words(example, contexts):
        pieces = len(vocabulary.pieces(word))
        if at <= low < at + len(word) + 1:
            first = piece
        if at <= high - 1 < at + len(word) + 1:
            last = piece + pieces - 1
        at, piece = at + len(word) + 1, piece + pieces
    return Target(first, last, kind) if NO_TOKEN not in (first, last) else NO_TARGET


def _words(example: Example, contexts: list[_Context]) -> Iterator[str]:
    """Yield the words of the page's written form."""
    for context in contexts:
        yield f"[ContextId={context.number}]"
        yield context.name
        for token in range(context.box.start, context.box.end) if context.box is not None else ():
            if example.words[token]:
                yield example.words[token]


def _cut(
    example_id: int, head: Ints, ids: Ints, tokens: Ints, target: Target, vocabulary: Vocabulary, shape: Shape
) -> Windows:
    """Cut the page into windows, each of which begins with the question."""
    room = shape.length - len(head) - 1
    starts = [0]
    while starts[-1] + room < len(ids):
        starts.append(starts[-1] + min(room, shape.stride))
    count = len(starts)
    shown = np.full((count, shape.length), vocabulary[PAD], dtype=np.int32)
    segments = np.zeros((count, shape.length), dtype=np.int8)
    of_page = np.full((count, shape.length), NO_TOKEN, dtype=np.int32)
    firsts, lasts, kinds = np.zeros(count, np.int32), np.zeros(count, np.int32), np.zeros(count, np.int8)
    shown[:, : len(head)] = head
    for window, start in enumerate(starts):
        part = ids[start : start + room]
        end = len(head) + len(part)
        shown[window, len(head) : end] = part
        shown[window, end] = vocabulary[SEP]
        segments[window, len(head) : end + 1] = 1
        of_page[window, len(head) : end] = tokens[start : start + room]
        if target.kind is not Kind.NULL and start <= target.first and target.last < start + len(part):
            firsts[window], lasts[window] = target.first - start + len(head), target.last - start + len(head)
            kinds[window] = target.kind
    return Windows(example_id, shown, segments, of_page, firsts, lasts, kinds)
