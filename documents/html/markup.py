"""Read a page once: its structural tags and the blocks of visible text, with their places in the source.

Tree construction follows the WHATWG algorithm (turbohtml), so a page is cut where a browser would
cut it. All positions here are character offsets into the canonical text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import turbohtml
from turbohtml import TokenType

from documents.html.errors import LimitExceeded

# The tags that stand as tokens of their own in the Natural Questions data.
STRUCTURAL = frozenset(("h1", "h2", "h3", "h4", "h5", "h6", "p", "table", "tr", "th", "td", "ul", "ol", "li", "dl", "dt", "dd"))  # fmt: skip
# Inside these, characters are not text of the page. Superscripts are reference marks and exponents;
# the published data drops both ("510 million km", not "km 2").
_DROPPED = frozenset(("script", "style", "sup", "template", "noscript", "textarea", "select", "svg", "iframe", "object", "annotation"))  # fmt: skip
_INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark q rp rt ruby s samp small span "
    "strike strong sub time tt u var wbr".split()
)
_HIDDEN_STYLE = re.compile(r"(?i)display\s*:\s*none")
_CHARACTERS = (TokenType.TEXT, TokenType.CHARACTER_REFERENCE)
_SITE_NAME = re.compile(r" [-–—] (?:Wikipedia|维基百科).{0,99}$")
# A reader sees a gap before these even inside a word: "40 075.017 km".
_GAP_STYLE = re.compile(r"(?i)margin-left\s*:\s*\.?\d")
MAX_DEPTH = 500
_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
# What the MediaWiki skin prints around an article. The published tokens hold its tags and these few texts.
CHROME_IDS = frozenset(("siteSub", "mw-navigation", "footer", "p-lang-label"))
CHROME_KEPT_IDS = frozenset(("pt-anontalk", "ca-viewsource", "n-contents", "n-aboutsite", "p-lang", "footer-info", "footer-places-about"))  # fmt: skip
# Tags inside these are tokens and their text is not: reference lists and the navigation bars "v t e" of later pages.
# Pages from before Wikipedia wrapped its reference lists keep the text of theirs, as in the published files.
FURNITURE = frozenset(("mw-references-wrap", "navbar"))
# Nothing in these is a long answer.
CHROME_BOXES = frozenset(("siteSub", "catlinks", "mw-navigation", "footer", "mw-head", "mw-panel"))


@dataclass(slots=True, eq=False)
class Element:
    """A structural element: where its tags stand, and which elements enclose it."""

    tag: str
    start: int
    start_tag_end: int
    end_tag_start: int | None  # None where HTML lets the end tag be left out
    end: int
    colspan: str
    in_contents_list: bool
    in_chrome: bool


@dataclass(slots=True)
class Block:
    """A run of text that no block tag interrupts; character i stands at ``starts[i]`` to ``ends[i]``."""

    characters: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    @property
    def start(self) -> int:
        """Where the first character stands."""
        return self.starts[0]

    @property
    def text(self) -> str:
        """The characters as one string."""
        return "".join(self.characters)

    def add(self, text: str, start: int) -> None:
        """Append characters that stand in the source one by one."""
        self.characters.append(text)
        self.starts.extend(range(start, start + len(text)))
        self.ends.extend(range(start + 1, start + len(text) + 1))

    def add_reference(self, text: str, start: int, end: int) -> None:
        """Append a decoded character reference: all its characters stand in one place."""
        self.characters.append(text)
        self.starts.extend([start] * len(text))
        self.ends.extend([end] * len(text))


@dataclass(frozen=True, slots=True)
class Tag:
    """One tag of a structural element, as it stands in the source."""

    element: Element
    opening: bool

    @property
    def start(self) -> int:
        """Where the tag starts."""
        if self.opening or self.element.end_tag_start is None:
            return self.element.start
        return self.element.end_tag_start

    @property
    def end(self) -> int:
        """Where the tag ends."""
        return self.element.start_tag_end if self.opening else self.element.end


class Page:
    """The structure of one page, read from canonical text.

    Parameters
    ----------
    text: canonical text.
    max_nodes, max_depth: a page with more elements, or nested deeper, raises `LimitExceeded`. From 510 levels on
        the parser joins elements, so that nothing deeper can be read faithfully.
    furniture: the classes of elements whose text is left out; none: tokenizer version 1.
    """

    def __init__(
        self, text: str, *, max_nodes: int = 500_000, max_depth: int = MAX_DEPTH, furniture: frozenset[str] = FURNITURE
    ) -> None:
        self.text = text
        self._furniture = furniture
        self.elements: list[Element] = []
        self._tags: dict[int, Tag] = {}
        # From a position to (where it ends, whether text is read there); inner entries override outer ones.
        self._readable: dict[int, tuple[int, bool]] = {}
        self._gaps: set[int] = set()
        self._max_depth = max_depth
        self._nodes_left = self._max_nodes = max_nodes
        self._walk()

    @property
    def title(self) -> str:
        """The title of the page without the site's name, or nothing."""
        return _SITE_NAME.sub("", " ".join(self._title.split()))[:500]

    def pieces(self) -> Iterator[Tag | Block]:
        """Yield structural tags and blocks of readable text in document order."""
        block = Block()
        for kind, start, source, data in self._source():
            if kind is TokenType.TEXT:
                block.add(source, start)
            elif kind is TokenType.CHARACTER_REFERENCE:
                tail = _after_reference(source, data or source)
                end = start + len(source) - tail
                block.add_reference((data or source)[: len(data or source) - tail], start, end)
                block.add(source[len(source) - tail :], end)
            else:
                if block.starts:
                    yield block
                    block = Block()
                if start in self._tags:
                    yield self._tags[start]
        if block.starts:
            yield block

    def _source(self) -> Iterator[tuple[TokenType, int, str, str | None]]:
        """Yield readable text and the tags that interrupt it, with where each stands in the source."""
        scopes: list[tuple[int, bool]] = [(len(self.text), True)]
        position = 0
        for token in turbohtml.tokenize(
            self.text, resolve_references=False, capture_source=True, capture_attributes=False
        ):
            start = position
            source = token.source if token.source is not None else token.data or ""
            position += len(source)
            while len(scopes) > 1 and start >= scopes[-1][0]:
                scopes.pop()
            if start in self._readable:
                scopes.append(self._readable[start])
            if token.type in _CHARACTERS:
                if scopes[-1][1]:
                    yield token.type, start, source, token.data
            elif token.tag is not None and (token.tag not in _INLINE or start in self._gaps):
                yield token.type, start, source, None

    def _walk(self) -> None:
        # An explicit stack: pages nest deeper than Python recurses.
        document = turbohtml.parse(self.text, source_locations=True)
        title = document.find("title")
        self._title = title.text[:2000] if title is not None else ""
        body = document.find("body")
        place = body.source_location if body is not None else None
        self.body_start = place.start_tag.start_offset if place is not None else 0
        stack: list[tuple[turbohtml.Node, int, int, bool, bool]] = [(document, len(self.text), 0, False, False)]
        while stack:
            parent, parent_end, depth, in_contents, in_chrome = stack.pop()
            if depth > self._max_depth:
                raise LimitExceeded(f"tags nest more than {self._max_depth:,} deep")
            children = [child for child in parent.children if isinstance(child, turbohtml.Element)]
            self._nodes_left -= len(children)
            if self._nodes_left < 0:
                raise LimitExceeded(f"more than {self._max_nodes:,} elements")
            for child, end in zip(children, _ends(children, parent_end), strict=True):
                contents = in_contents or _is_contents_list(child)
                chrome = in_chrome or child.attrs.get("id") in CHROME_BOXES
                if self._enter(child, end, in_contents=contents, in_chrome=chrome):
                    stack.append((child, _inner_end(child, end), depth + 1, contents, chrome))
        self.elements.sort(key=lambda element: element.start)

    def _enter(self, node: turbohtml.Element, end: int, *, in_contents: bool, in_chrome: bool) -> bool:
        """Record one element; return whether anything inside it can be read."""
        location = node.source_location
        if location is None:  # put there by the parser: nothing of it stands in the source
            return True
        start = location.start_tag.start_offset
        if _GAP_STYLE.search(str(node.attrs.get("style") or "")):
            self._gaps.add(start)
        readable = _is_readable(node)
        if readable is None and not self._furniture.isdisjoint(node.attrs.get("class") or ()):
            readable = False
        if readable is not None:
            self._readable[start] = (end, readable)
        if hides_its_content(node):
            self._readable[start] = (end, False)
            return False
        if node.tag in STRUCTURAL:
            closing = location.end_tag
            element = Element(
                tag=node.tag,
                start=start,
                start_tag_end=location.start_tag.end_offset,
                end_tag_start=closing.start_offset if closing else None,
                end=end,
                colspan=str(node.attrs.get("colspan") or ""),
                in_contents_list=in_contents,
                in_chrome=in_chrome,
            )
            self.elements.append(element)
            self._tags[start] = Tag(element, opening=True)
            if closing:
                self._tags[closing.start_offset] = Tag(element, opening=False)
        return True


def _after_reference(source: str, data: str) -> int:
    """Return how many characters of a reference's source stand after it: ``&sect12`` is a reference and two digits.

    A reference without semicolon runs together with the letters and digits that follow; these are the same in the
    source and in what it decodes to.
    """
    most = min(len(source), len(data)) - 1
    tail = 0
    while tail < most and source[-tail - 1] == data[-tail - 1]:
        tail += 1
    return tail


def _ends(siblings: list[turbohtml.Element], parent_end: int) -> list[int]:
    """Return where each sibling ends; one without an end tag runs to the next sibling's start."""
    ends = [parent_end] * len(siblings)
    following = parent_end
    for index in range(len(siblings) - 1, -1, -1):
        location = siblings[index].source_location
        if location is None:
            ends[index] = following
            continue
        if location.end_tag is not None:
            ends[index] = location.end_tag.end_offset
        elif siblings[index].tag in _VOID:
            ends[index] = location.start_tag.end_offset
        else:
            ends[index] = following
        following = location.start_tag.start_offset
    return ends


def _inner_end(node: turbohtml.Element, end: int) -> int:
    """Return where the inside of an element ends: before its own end tag, if it has one."""
    location = node.source_location
    return location.end_tag.start_offset if location is not None and location.end_tag is not None else end


def _is_readable(node: turbohtml.Element) -> bool | None:
    """Return whether text starts or stops being read at this element; None where nothing changes."""
    if node.tag in ("head", "title"):
        return node.tag == "title"
    identifier = node.attrs.get("id")
    if identifier in CHROME_IDS:
        return False
    return True if identifier in CHROME_KEPT_IDS else None


def hides_its_content(node: turbohtml.Element) -> bool:
    """Return whether the characters inside this element are no text of the page."""
    return node.tag in _DROPPED or bool(_HIDDEN_STYLE.search(str(node.attrs.get("style") or "")))


def _is_contents_list(node: turbohtml.Element) -> bool:
    return node.attrs.get("id") == "toc" or "toc" in (node.attrs.get("class") or ())
