"""Tokens and candidates of a page, with byte offsets: the data model of Natural Questions."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import orjson

from documents.html.errors import EmptyPage
from documents.html.markup import Block, Element, Page, Tag
from documents.html.words import Words, words

SOURCE = "quorate"
VERSION = 3

CANDIDATE_TAGS = frozenset(("p", "table", "tr", "ul", "ol", "dl", "li", "dd", "dt"))


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a structural tag; ``page[start_byte:end_byte]`` is its position."""

    token: str
    start_byte: int
    end_byte: int
    html_token: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """A box that can be a long answer: half-open byte and token ranges."""

    start_byte: int
    end_byte: int
    start_token: int
    end_token: int
    top_level: bool


@dataclass(frozen=True, slots=True)
class CandidateRules:
    """Which boxes may be long answers.

    Parameters
    ----------
    end_headings: no candidates from the first level-2 heading with one of these texts on.
    skip_contents_list: leave out the table of contents.
    min_tokens: leave out boxes with fewer tokens, their own tags counted.
    """

    end_headings: frozenset[str] = frozenset(
        (
            "see also",
            "notes",
            "references",
            "external links",
            "参见",
            "參見",
            "注释",
            "註釋",
            "參考文獻",
            "参考文献",
            "外部链接",
            "外部連結",
        )
    )
    skip_contents_list: bool = True
    min_tokens: int = 5


@dataclass(frozen=True)
class Tokenization:
    """The tokens of a page in columns, in order, and its candidates in document order, parents first.

    Token ``i`` is ``texts[i]``, at bytes ``starts[i]`` to ``ends[i]``; ``tags`` are the indices of its tags.
    """

    texts: list[str]
    starts: list[int]
    ends: list[int]
    tags: list[int]
    candidates: list[Candidate]

    @classmethod
    def of(cls, tokens: Sequence[Token], candidates: list[Candidate]) -> Self:
        """Return a tokenization from its tokens."""
        return cls(
            texts=[token.token for token in tokens],
            starts=[token.start_byte for token in tokens],
            ends=[token.end_byte for token in tokens],
            tags=[index for index, token in enumerate(tokens) if token.html_token],
            candidates=candidates,
        )

    @cached_property
    def is_tag(self) -> list[bool]:
        """Whether each token is a tag."""
        found = [False] * len(self.texts)
        for index in self.tags:
            found[index] = True
        return found

    def words(self, start: int, end: int) -> list[str]:
        """Return the words from one token up to another, without tags."""
        return [text for text, is_tag in zip(self.texts[start:end], self.is_tag[start:end], strict=True) if not is_tag]

    @cached_property
    def tokens(self) -> list[Token]:
        """The tokens one by one."""
        return list(map(Token, self.texts, self.starts, self.ends, self.is_tag))


def tokenize(page: Page, rules: CandidateRules | None = None) -> Tokenization:
    """Return the tokens and candidates of a page.

    The tokens' bytes are in increasing order in the page; no token text is empty, and only a
    tag with a ``colspan`` contains a blank.

    Raises
    ------
    EmptyPage
        The page shows no words.
    """
    found = Tokenization([], [], [], [], [])
    texts = found.texts
    ranges: dict[int, tuple[int, int]] = {}  # an element's start -> its token range
    open_elements: list[tuple[Element, int]] = []

    def close_until(position: int) -> None:
        while open_elements and open_elements[-1][0].end <= position:
            element, first = open_elements.pop()
            ranges[element.start] = (first, len(texts))

    for piece in page.pieces():
        close_until(piece.start)
        if isinstance(piece, Block):
            _words_add(found, piece, is_title=piece.start < page.body_start)
            continue
        if piece.opening:
            open_elements.append((piece.element, len(texts)))
        found.tags.append(len(texts))
        texts.append(_tag_text(piece))
        found.starts.append(piece.start_byte)
        found.ends.append(piece.end_byte)
    close_until(len(page.text))
    if len(found.tags) == len(texts):
        raise EmptyPage("no word can be seen on this page")
    found.candidates.extend(_candidates(page.elements, ranges, found, rules or CandidateRules()))
    return found


def _tag_text(tag: Tag) -> str:
    """Return a tag in the form of the published tokens: ``<P>``, ``</Li>``, ``<Td colspan="2">``."""
    name = tag.element.tag.capitalize()
    if not tag.opening:
        return f"</{name}>"
    colspan = tag.element.colspan
    return f'<{name} colspan="{colspan}">' if colspan.isdecimal() else f"<{name}>"


def _words_add(found: Tokenization, block: Block, *, is_title: bool) -> None:
    """Add the words of a block, with their positions in the page."""
    own = words("".join(block.texts))
    if is_title and own.texts[-1:] == ["Wikipedia"]:
        own.texts[-1] = "wikipedia"  # published titles end with the site's name in lower case
    found.texts.extend(own.texts)
    _places_add(found, block, own)


def _places_add(found: Tokenization, block: Block, words: Words) -> None:
    """Add the byte positions of a block's words, in a single pass over the block's stretches."""
    stretches = iter(block.stretches)
    add_start, add_end = found.starts.append, found.ends.append
    offset = until = first_byte = end_byte = 0
    is_one_place = False
    for start, end in zip(words.starts, words.ends, strict=True):
        while start >= until:
            offset, until, first_byte, end_byte, is_one_place = next(stretches)
        add_start(first_byte if is_one_place else first_byte + start - offset)
        while end > until:
            offset, until, first_byte, end_byte, is_one_place = next(stretches)
        add_end(end_byte if is_one_place else first_byte + end - offset)


def _candidates(
    elements: Iterable[Element], ranges: dict[int, tuple[int, int]], found: Tokenization, rules: CandidateRules
) -> list[Candidate]:
    candidates: list[Candidate] = []
    covered_until = 0
    for element in elements:
        first, last = ranges.get(element.start, (0, 0))
        if element.tag == "h2" and _heading(found, first, last) in rules.end_headings:
            break
        if element.tag not in CANDIDATE_TAGS or last - first < rules.min_tokens:
            continue
        if element.in_chrome or (rules.skip_contents_list and element.in_contents_list):
            continue
        top_level = last > covered_until
        covered_until = max(covered_until, last)
        candidates.append(Candidate(found.starts[first], found.ends[last - 1], first, last, top_level))
    return candidates


def _heading(found: Tokenization, first: int, last: int) -> str:
    """Return the text of a heading in lower case, without the edit link."""
    tags = found.tags[bisect_left(found.tags, first) : bisect_left(found.tags, last)]
    words_only = [found.texts[index] for index in range(first, last) if index not in tags]
    if "(" in words_only:
        words_only = words_only[: words_only.index("(")]
    joined = " ".join(words_only).casefold()
    return joined if joined.isascii() else joined.replace(" ", "")


def dump(tokenization: Tokenization) -> bytes:
    """Return a tokenization as JSON in columns, a fifth of the size of one object per token."""
    return orjson.dumps(
        {
            "tokens": tokenization.texts,
            "start_bytes": tokenization.starts,
            "end_bytes": tokenization.ends,
            "html_tokens": tokenization.tags,
            "candidates": [
                [box.start_byte, box.end_byte, box.start_token, box.end_token, int(box.top_level)]
                for box in tokenization.candidates
            ],
        }
    )


def load(data: bytes) -> Tokenization:
    """Return the tokenization that `dump` wrote."""
    columns = orjson.loads(data)
    candidates = [Candidate(a, b, c, d, bool(top)) for a, b, c, d, top in columns["candidates"]]
    return Tokenization(
        columns["tokens"], columns["start_bytes"], columns["end_bytes"], columns["html_tokens"], candidates
    )
