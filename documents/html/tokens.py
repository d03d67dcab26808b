"""Tokens and candidates of a page, with byte offsets: the data model of Natural Questions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import orjson

from documents.html.errors import EmptyPage
from documents.html.markup import Block, Element, Page, Tag
from documents.html.words import words

SOURCE = "quorate"
VERSION = 2

CANDIDATE_TAGS = frozenset(("p", "table", "tr", "ul", "ol", "dl", "li", "dd", "dt"))


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a structural tag; ``page[start_byte:end_byte]`` is where it stands."""

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
    end_headings: from the first level-2 heading with one of these texts on there is none.
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


@dataclass(frozen=True, slots=True)
class Tokenization:
    """The tokens of a page in order, and its candidates in document order, parents first."""

    tokens: list[Token]
    candidates: list[Candidate]


def tokenize(page: Page, rules: CandidateRules | None = None) -> Tokenization:
    """Return the tokens and candidates of a page.

    Every token's bytes stand in the page in increasing order; no token text is empty, and only a
    tag with a ``colspan`` holds a blank.

    Raises
    ------
    EmptyPage
        No word can be seen on the page.
    """
    rules = rules or CandidateRules()
    byte_of = byte_offsets(page.text)
    tokens: list[Token] = []
    ranges: dict[int, tuple[int, int]] = {}  # an element's start -> its token range
    open_elements: list[tuple[Element, int]] = []

    def close_until(position: int) -> None:
        while open_elements and open_elements[-1][0].end <= position:
            element, first = open_elements.pop()
            ranges[element.start] = (first, len(tokens))

    for piece in page.pieces():
        close_until(piece.start)
        if isinstance(piece, Block):
            tokens.extend(_word_tokens(piece, byte_of, is_title=piece.start < page.body_start))
            continue
        if piece.opening:
            open_elements.append((piece.element, len(tokens)))
        tokens.append(Token(_tag_text(piece), byte_of[piece.start], byte_of[piece.end], html_token=True))
    close_until(len(page.text))
    if all(token.html_token for token in tokens):
        raise EmptyPage("no word can be seen on this page")
    return Tokenization(tokens, _candidates(page.elements, ranges, tokens, rules))


def byte_offsets(text: str) -> Sequence[int]:
    """Return, for each character offset up to the end, the offset of its first UTF-8 byte."""
    if text.isascii():
        return range(len(text) + 1)
    widths = (1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4 for code in map(ord, text))
    return list(accumulate(widths, initial=0))


def _tag_text(tag: Tag) -> str:
    """Return a tag the way the published tokens write it: ``<P>``, ``</Li>``, ``<Td colspan="2">``."""
    name = tag.element.tag.capitalize()
    if not tag.opening:
        return f"</{name}>"
    colspan = tag.element.colspan
    return f'<{name} colspan="{colspan}">' if colspan.isdecimal() else f"<{name}>"


def _word_tokens(block: Block, byte_of: Sequence[int], *, is_title: bool) -> Iterator[Token]:
    text = block.text
    for word in words(text):
        start, end = block.starts[word.start], block.ends[word.end - 1]
        # Published titles end with the site's name in lower case ("Trade winds - wikipedia").
        is_site = is_title and word.text == "Wikipedia" and not text[word.end :].strip()
        yield Token(word.text.lower() if is_site else word.text, byte_of[start], byte_of[end], html_token=False)


def _candidates(
    elements: Iterable[Element], ranges: dict[int, tuple[int, int]], tokens: list[Token], rules: CandidateRules
) -> list[Candidate]:
    candidates: list[Candidate] = []
    covered_until = 0
    for element in elements:
        first, last = ranges.get(element.start, (0, 0))
        if element.tag == "h2" and _heading(tokens[first:last]) in rules.end_headings:
            break
        if element.tag not in CANDIDATE_TAGS or last - first < rules.min_tokens:
            continue
        if element.in_chrome or (rules.skip_contents_list and element.in_contents_list):
            continue
        top_level = last > covered_until
        covered_until = max(covered_until, last)
        candidates.append(Candidate(tokens[first].start_byte, tokens[last - 1].end_byte, first, last, top_level))
    return candidates


def _heading(tokens: list[Token]) -> str:
    """Return the text of a heading in lower case, without the edit link."""
    words_only = [token.token for token in tokens if not token.html_token]
    if "(" in words_only:
        words_only = words_only[: words_only.index("(")]
    joined = " ".join(words_only).casefold()
    return joined if joined.isascii() else joined.replace(" ", "")


def dump(tokenization: Tokenization) -> bytes:
    """Return a tokenization as JSON in columns, a fifth of the size of one object per token."""
    tokens = tokenization.tokens
    return orjson.dumps(
        {
            "tokens": [token.token for token in tokens],
            "start_bytes": [token.start_byte for token in tokens],
            "end_bytes": [token.end_byte for token in tokens],
            "html_tokens": [index for index, token in enumerate(tokens) if token.html_token],
            "candidates": [
                [box.start_byte, box.end_byte, box.start_token, box.end_token, int(box.top_level)]
                for box in tokenization.candidates
            ],
        }
    )


def load(data: bytes) -> Tokenization:
    """Return the tokenization that `dump` wrote."""
    columns = orjson.loads(data)
    html_tokens = set(columns["html_tokens"])
    rows = zip(columns["tokens"], columns["start_bytes"], columns["end_bytes"], strict=True)
    tokens = [Token(text, start, end, index in html_tokens) for index, (text, start, end) in enumerate(rows)]
    return Tokenization(tokens, [Candidate(a, b, c, d, bool(top)) for a, b, c, d, top in columns["candidates"]])
