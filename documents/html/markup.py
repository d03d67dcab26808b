"""Parse a page once: its structural tags and the blocks of visible text, with their positions in the source.

Tree construction follows the WHATWG algorithm (turbohtml), so elements end where they would in a browser.
Positions are character offsets into the canonical text, unless their names mention bytes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import turbohtml
from turbohtml import TokenType

from documents.html.errors import LimitExceeded

# The tags that stand as tokens of their own in the Natural Questions data.
STRUCTURAL = frozenset(
    ("h1", "h2", "h3", "h4", "h5", "h6", "p", "table", "tr", "th", "td", "ul", "ol", "li", "dl", "dt", "dd")
)
# Inside these, characters are not text of the page. Superscripts are reference marks and exponents;
# the published data drops both ("510 million km", not "km 2").
_DROPPED = frozenset(
    ("script", "style", "sup", "template", "noscript", "textarea", "select", "svg", "iframe", "object", "annotation")
)
_INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark q rp rt ruby s samp small span "
    "strike strong sub time tt u var wbr".split()
)
_EVENLY = re.compile(r"[\x00-\x7f]+|[^\x00-\x7f]")  # stretches of one byte a character, and single characters
_HIDDEN_STYLE = re.compile(r"(?i)display\s*:\s*none")
_TEXT, _REFERENCE = TokenType.TEXT, TokenType.CHARACTER_REFERENCE
_SITE_NAME = re.compile(r" [-–—] (?:Wikipedia|维基百科).{0,99}$")
# A reader sees a gap before these even inside a word: "40 075.017 km".
_GAP_STYLE = re.compile(r"(?i)margin-left\s*:\s*\.?\d")
MAX_DEPTH = 500
_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
# What the MediaWiki skin prints around an article. The published tokens hold its tags and these few texts.
CHROME_IDS = frozenset(("siteSub", "mw-navigation", "footer", "p-lang-label"))
CHROME_KEPT_IDS = frozenset(
    ("pt-anontalk", "ca-viewsource", "n-contents", "n-aboutsite", "p-lang", "footer-info", "footer-places-about")
)
# Tags inside these are tokens and their text is not: reference lists and the navigation bars "v t e" of later pages.
# Pages from before Wikipedia wrapped its reference lists keep the text of theirs, as in the published files.
FURNITURE = frozenset(("mw-references-wrap", "navbar"))
# Nothing in these is a long answer.
CHROME_BOXES = frozenset(("siteSub", "catlinks", "mw-navigation", "footer", "mw-head", "mw-panel"))
STRUCTURAL_TAGS = ", ".join(sorted(STRUCTURAL))
HIDING = ", ".join(sorted(_DROPPED | {"[style]"}))  # what `hides_its_content` can be true of
# Everything that can change how a page is read: a tenth of its elements.
_DECISIVE = ", ".join(
    [STRUCTURAL_TAGS, HIDING, "head", "title", ".toc"]
    + [f".{name}" for name in sorted(FURNITURE)]
    + [f'[id="{name}"]' for name in sorted(CHROME_IDS | CHROME_KEPT_IDS | CHROME_BOXES | {"toc"})]
)


@dataclass(slots=True, eq=False)
class Element:
    """A structural element: the positions of its tags, and its enclosing elements."""

    tag: str
    start: int
    start_tag_end: int
    end_tag_start: int | None  # None where HTML lets the end tag be left out
    end: int
    colspan: str
    in_contents_list: bool
    in_chrome: bool


class Block:
    """A run of text that no block tag interrupts, with the positions of its characters.

    Each ASCII character takes one byte. The characters of a decoded reference all have the position of the reference,
    and every other character has the position of its bytes.
    """

    __slots__ = ("_length", "start", "stretches", "texts")

    def __init__(self, start: int) -> None:
        self.start = start
        self.texts: list[str] = []
        # Where it begins and ends in the block, its first and last byte in the page, and whether it is one place.
        self.stretches: list[tuple[int, int, int, int, bool]] = []
        self._length = 0

    def add(self, text: str, first_byte: int) -> None:
        """Append text that begins at a byte of the page."""
        if text.isascii():
            self._append(text, first_byte, first_byte + len(text), is_one_place=False)
            return
        for match in _EVENLY.finditer(text):
            piece = match.group()
            size = len(piece.encode())
            self._append(piece, first_byte, first_byte + size, is_one_place=size > len(piece))
            first_byte += size

    def add_reference(self, source: str, decoded: str, first_byte: int) -> None:
        """Append a character reference.

        A reference without a semicolon also takes the letters and digits that follow it, which are equal in the source
        and in the decoded text: ``&sect12`` is a reference and two digits.
        """
        most = min(len(source), len(decoded)) - 1
        tail = 0
        while tail < most and source[-tail - 1] == decoded[-tail - 1]:
            tail += 1
        end_byte = first_byte + len(source[: len(source) - tail].encode())
        self._append(decoded[: len(decoded) - tail], first_byte, end_byte, is_one_place=True)
        if tail:
            self.add(source[-tail:], end_byte)

    def _append(self, text: str, first_byte: int, end_byte: int, *, is_one_place: bool) -> None:
        begin = self._length
        self._length += len(text)
        self.stretches.append((begin, self._length, first_byte, end_byte, is_one_place))
        self.texts.append(text)


class Tag(NamedTuple):
    """One tag of a structural element, and its bytes in the page."""

    element: Element
    opening: bool
    start: int  # in characters
    start_byte: int
    end_byte: int


class Page:
    """The structure of one page, read from canonical text.

    Parameters
    ----------
    text: canonical text.
    max_nodes, max_depth: a page with more elements, or nested deeper, raises `LimitExceeded`. From 510 levels on
        the parser joins elements, so deeper pages can't be parsed faithfully.
    furniture: the classes of elements whose text is left out; leave empty for tokenizer version 1.
    """

    def __init__(
        self, text: str, *, max_nodes: int = 500_000, max_depth: int = MAX_DEPTH, furniture: frozenset[str] = FURNITURE
    ) -> None:
        self.text = text
        self._furniture = furniture
        self.elements: list[Element] = []
        # From the character at which a tag starts to its element, and whether it opens it.
        self._tags: dict[int, tuple[Element, bool]] = {}
        # From a position to (where it ends, whether text is read there); inner entries override outer ones.
        self._readable: dict[int, tuple[int, bool]] = {}
        self._gaps: set[int] = set()
        document = turbohtml.parse(text, source_locations=True)
        title, body = document.find("title"), document.find("body")
        self._title = title.text[:2000] if title is not None else ""
        place = body.source_location if body is not None else None
        self.body_start = place.start_tag.start_offset if place is not None else 0
        self._walk(document, _Shape(document, len(text)), max_nodes, max_depth)

    @property
    def title(self) -> str:
        """The title of the page without the site's name, or nothing."""
        return _SITE_NAME.sub("", " ".join(self._title.split()))[:500]

    def pieces(self) -> Iterator[Tag | Block]:
        """Yield structural tags and blocks of readable text in document order."""
        tags, readable, gaps = self._tags, self._readable, self._gaps
        scopes = [(len(self.text), True)]
        scope_end, is_read = scopes[-1]
        block: Block | None = None
        position = byte = 0
        for token in tag_soup(self.text):
            kind, start, first = token.type, position, byte
            position += len(token.source or token.data or "")
            source = self.text[start:position]
            byte += len(source) if source.isascii() else len(source.encode())
            if start >= scope_end or start in readable:
                scope_end, is_read = self._scope_at(start, scopes)
            if kind is _TEXT or kind is _REFERENCE:
                if not is_read:
                    continue
                block = block or Block(start)
                if kind is _TEXT:
                    block.add(source, first)
                else:
                    block.add_reference(source, token.data or source, first)
            elif token.tag is not None and (token.tag not in _INLINE or start in gaps):
                if block is not None:
                    yield block
                    block = None
                if start in tags:
                    yield Tag(*tags[start], start, first, byte)
        if block is not None:
            yield block

    def _scope_at(self, start: int, scopes: list[tuple[int, bool]]) -> tuple[int, bool]:
        """Return (end, whether text is read) of the scope at a position; ``scopes`` are the enclosing ones."""
        while start >= scopes[-1][0] and len(scopes) > 1:
            scopes.pop()
        if start in self._readable:
            scopes.append(self._readable[start])
        return scopes[-1]

    def _walk(self, document: turbohtml.Document, shape: "_Shape", max_nodes: int, max_depth: int) -> None:
        """Record the elements that decide which text is read; elements inside hidden content are skipped."""
        inside_hidden, in_contents, in_chrome = set[turbohtml.Node](), set[turbohtml.Node](), set[turbohtml.Node]()
        nodes_hidden = 0
        for node in document.select(_DECISIVE):
            if node in inside_hidden:
                continue
            if _is_contents_list(node):
                in_contents.update(node.select(STRUCTURAL_TAGS), [node])
            if node.attrs.get("id") in CHROME_BOXES:
                in_chrome.update(node.select(STRUCTURAL_TAGS), [node])
            if self._enter(node, shape, in_contents=node in in_contents, in_chrome=node in in_chrome):
                continue
            within = node.select("*")
            inside_hidden.update(within)
            nodes_hidden += len(within)
        if len(document.select("*")) - nodes_hidden > max_nodes:
            raise LimitExceeded(f"more than {max_nodes:,} elements")
        if any(node not in inside_hidden for node in document.select(" > ".join("*" * (max_depth + 1)))):
            raise LimitExceeded(f"tags nest more than {max_depth:,} deep")
        self.elements.sort(key=lambda element: element.start)

    def _enter(self, node: turbohtml.Element, shape: "_Shape", *, in_contents: bool, in_chrome: bool) -> bool:
        """Record one element; return whether anything inside it can be read."""
        location, attributes = node.source_location, node.attrs
        if location is None:  # put there by the parser: nothing of it stands in the source
            return True
        opening, closing = location.start_tag, location.end_tag
        start = opening.start_offset
        end = closing.end_offset if closing else shape.end_of(node)
        style = attributes.get("style")
        if style and _GAP_STYLE.search(str(style)):
            self._gaps.add(start)
        readable = _is_readable(node)
        if readable is None and not self._furniture.isdisjoint(attributes.get("class") or ()):
            readable = False
        if readable is not None:
            self._readable[start] = (end, readable)
        if hides_its_content(node):
            self._readable[start] = (end, False)
            return False
        if node.tag in STRUCTURAL:
            element = Element(
                tag=node.tag,
                start=start,
                start_tag_end=opening.end_offset,
                end_tag_start=closing.start_offset if closing else None,
                end=end,
                colspan=str(attributes.get("colspan") or ""),
                in_contents_list=in_contents,
                in_chrome=in_chrome,
            )
            self.elements.append(element)
            self._tags[start] = (element, True)
            if closing:
                self._tags[closing.start_offset] = (element, False)
        return True


class _Shape:
    """The end positions of a document's elements in its source."""

    def __init__(self, document: turbohtml.Document, end: int) -> None:
        self._ends: dict[turbohtml.Node, int] = {document: end}

    def end_of(self, node: turbohtml.Node) -> int:
        """Return the end of an element; without an end tag, it extends to its next sibling or its parent's end."""
        open_ended = list[turbohtml.Node]()
        end: int | None = None
        while end is None:
            end = self._own_end(node)
            if end is None:
                open_ended.append(node)
                parent = node.parent
                assert parent is not None  # the document's end is known
                closing = (
                    parent.source_location.end_tag
                    if isinstance(parent, turbohtml.Element) and parent.source_location
                    else None
                )
                end = closing.start_offset if closing else None
                node = parent
        self._ends.update(dict.fromkeys(open_ended, end))
        return end

    def _own_end(self, node: turbohtml.Node) -> int | None:
        """Return the end of an element, unless it extends to the end of its parent."""
        if node in self._ends:
            return self._ends[node]
        location = node.source_location if isinstance(node, turbohtml.Element) else None
        if isinstance(node, turbohtml.Element) and location is not None:
            if location.end_tag is not None:
                return location.end_tag.end_offset
            if node.tag in _VOID:
                return location.start_tag.end_offset
        for sibling in node.next_siblings:
            if isinstance(sibling, turbohtml.Element) and sibling.source_location is not None:
                return sibling.source_location.start_tag.start_offset
        return None


def tag_soup(text: str) -> Iterator[turbohtml.Token]:
    """Yield tags and text in source order; the sum of the lengths so far is the position of each.

    HTML ignores ``</>``, which would have no length. It is read as an empty comment, which is ignored too but has one.
    """
    return iter(
        turbohtml.tokenize(
            text.replace("</>", "<!>"), resolve_references=False, capture_source=True, capture_attributes=False
        )
    )


def _is_readable(node: turbohtml.Element) -> bool | None:
    """Return whether text is read from this element on; None if the element changes nothing."""
    if node.tag in ("head", "title"):
        return node.tag == "title"
    identifier = node.attrs.get("id")
    if identifier in CHROME_IDS:
        return False
    return True if identifier in CHROME_KEPT_IDS else None


def hides_its_content(node: turbohtml.Element) -> bool:
    """Return whether the text inside this element isn't part of the page."""
    return node.tag in _DROPPED or bool(_HIDDEN_STYLE.search(str(node.attrs.get("style") or "")))


def _is_contents_list(node: turbohtml.Element) -> bool:
    return node.attrs.get("id") == "toc" or "toc" in (node.attrs.get("class") or ())
