"""The input of readers: the words of a page's top-level boxes, and the words that each box shares with the question."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from baselines.nq.examples import Answer, Box, Example, read_examples
from baselines.nq.windows import chosen

MOST_WORDS = 300  # of a passage; the rest of a longer one isn't read


class Passage(NamedTuple):
    """A top-level box with its words and their tokens.

    ``shared`` is the number of words that also occur in the question, and ``weighted`` the sum of their inverse
    document frequencies over the page's passages.
    """

    box: Box
    words: list[str]
    tokens: list[int]
    shared: int
    weighted: float


class Target(NamedTuple):
    """The right passage, and first and last word of the short answer in it; no span without a short answer."""

    passage: int
    span: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Page:
    """A question with the passages of its page, and the right answer; None if the page has no answer."""

    question: list[str]
    passages: list[Passage]
    target: Target | None = None


def read_pages(files: Iterable[Path]) -> Iterator[Page]:
    """Yield the pages of files that have a passage.

    Raises
    ------
    EvaluationError
        A file can't be read.
    """
    for example in read_examples(files):
        page = page_of(example)
        if page.passages:
            yield page


def page_of(example: Example) -> Page:
    """Return the page of an example."""
    question = example.question.split()
    boxes = [box for box in example.boxes if box.is_top]
    tokens = [[one for one in range(box.start, box.end) if example.words[one]][:MOST_WORDS] for box in boxes]
    words = [[example.words[one] for one in own] for own in tokens]
    asked = {word.lower() for word in question}
    known = [asked & {word.lower() for word in own} for own in words]
    holds = Counter(word for own in known for word in own)
    weights = {word: math.log(len(boxes) / count) for word, count in holds.items()}
    passages = [
        Passage(box, own, places, len(both), sum(weights[word] for word in sorted(both)))
        for box, own, places, both in zip(boxes, words, tokens, known, strict=True)
        if own
    ]
    return Page(question or ["?"], passages, _target(passages, example, chosen(example.answers)))


def _target(passages: list[Passage], example: Example, answer: Answer | None) -> Target | None:
    """Return the passage that is or holds the box of an annotation, and the smallest span of all its short answers."""
    if answer is None:
        return None
    box = example.boxes[answer.box]
    for number, passage in enumerate(passages):
        if passage.box.start <= box.start and box.end <= passage.box.end:
            start = min((one for one, _ in answer.shorts), default=0)
            end = max((one for _, one in answer.shorts), default=0)
            own = [place for place, token in enumerate(passage.tokens) if start <= token < end]
            return Target(number, (own[0], own[-1]) if own else None)
    return None


def words_of(pages: Iterable[Page]) -> set[str]:
    """Return all words of pages and their questions."""
    found: set[str] = set()
    for page in pages:
        found.update(page.question, *(passage.words for passage in page.passages))
    return found
