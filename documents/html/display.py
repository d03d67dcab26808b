"""The page as an annotator sees it: sanitized, without site chrome, each candidate marked ``data-box``."""

import re
import secrets
from collections.abc import Collection, Sequence
from itertools import chain

import nh3
import turbohtml
from turbohtml import TokenType

from documents.html.errors import LimitExceeded
from documents.html.markup import CHROME_BOXES, HIDING, STRUCTURAL_TAGS, hides_its_content, tag_soup
from documents.html.tokens import Candidate, Token

_TAGS = frozenset(
    "h1 h2 h3 h4 h5 h6 p div span section article header figure figcaption blockquote pre code hr br "
    "ul ol li dl dt dd table caption colgroup col thead tbody tfoot tr th td "
    "b strong i em u s small sub sup cite q abbr dfn kbd samp var mark time ruby rb rt rp bdi bdo wbr "
    "math mrow mi mo mn msup msub mfrac msqrt mroot mtext mstyle munder mover munderover mtable mtr mtd".split()
)
_ATTRIBUTES = {
    "*": {"lang", "dir", "data-box", "data-token", "class"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
    "ol": {"start", "type", "reversed"},
    "li": {"value"},
}
# Class names with a look of their own on our pages, under a prefix so that a page cannot borrow the platform's.
_CLASSES = frozenset(
    "infobox wikitable navbox thumb tright tleft ambox toc hatnote reflist vertical-navbox sidebar reference image".split()
)
_REMOVED_IDS = CHROME_BOXES | {"jump-to-nav", "mw-page-base", "mw-head-base", "siteNotice"}
_REMOVED_CLASSES = frozenset(("mw-editsection", "noprint", "printfooter", "mw-jump-link", "Z3988"))
_REMOVED = ", ".join(
    [HIDING, *(f'[id="{name}"]' for name in sorted(_REMOVED_IDS)), *(f".{name}" for name in sorted(_REMOVED_CLASSES))]
)
# What a page may not set as it likes, and images.
_OURS = "[class], [dir], [data-box], [data-token], img"
_DIRECTIONS = frozenset(("ltr", "rtl", "auto"))
_CLEAN_CONTENT = {
    "script",
    "style",
    "template",
    "noscript",
    "textarea",
    "select",
    "iframe",
    "object",
    "svg",
    "annotation",
}


# Tags inside these are text to HTML, and were never looked at.
_RAW_TEXT = frozenset(("xmp", "noembed", "noframes", "plaintext"))
_FIRST_TAG = re.compile(r"<([A-Za-z][A-Za-z0-9]*)")
# What is left open is repeated by HTML in all that follows: a small page can stand for a huge one.
_MOST_GROWTH = 4


def display_html(text: str, candidates: Sequence[Candidate]) -> str:
    """Return the page for reading, safe to embed in our pages.

    Parameters
    ----------
    text: canonical text.
    candidates: the element that starts at a candidate's first byte gets ``data-box`` with its index.

    Raises
    ------
    LimitExceeded
        The page, or a candidate by itself, is many times as large in a browser as its source.
    """
    encoded = text.encode()
    for candidate in candidates:  # what would be too large is refused before anything is parsed
        source = encoded[candidate.start_byte : candidate.end_byte].decode()
        _refuse_growth(_body_of(_box_document(source, source)), source)
    starts = character_offsets(encoded, [candidate.start_byte for candidate in candidates])
    box_of = {start: index for index, start in enumerate(starts)}
    document = turbohtml.parse(text, source_locations=True)
    content = document.find(id="content")
    unwanted = [node for node in document.select(_REMOVED) if _is_removed(node)]
    _prepare(document)
    for node in document.select(STRUCTURAL_TAGS):
        location = node.source_location
        if location is not None and (box := box_of.get(location.start_tag.start_offset)) is not None:
            node.attrs["data-box"] = str(box)
    for node in unwanted:
        if node.select_one("[data-box]") is None and "data-box" not in node.attrs:
            node.extract()
    if content is None or content.tag in _RAW_TEXT or len(content.select("[data-box]")) < len(candidates):
        content = document.find("body")
    unfolded = content.inner_html if content is not None else ""
    _refuse_growth(unfolded, text)
    return sanitised(unfolded)


def _refuse_growth(unfolded: str, source: str) -> None:
    if len(unfolded) > _MOST_GROWTH * (len(source) + 10_000):
        raise LimitExceeded(f"a browser unfolds this page to more than {_MOST_GROWTH} times its size")


def box_html(text: str, tokens: Sequence[Token], candidate: Candidate) -> str:
    """Return one candidate for reading, each of its words marked ``data-token`` with its index in the page."""
    source = text.encode()[candidate.start_byte : candidate.end_byte]
    inside = [index for index in range(candidate.start_token, candidate.end_token) if not tokens[index].html_token]
    places = chain.from_iterable((tokens[index].start_byte, tokens[index].end_byte) for index in inside)
    offsets = character_offsets(source, [place - candidate.start_byte for place in places])
    # A name that no page can know: its own data-token must not pass for ours.
    mark = f"data-token-{secrets.token_hex(8)}"
    words = list(zip(inside, offsets[::2], offsets[1::2], strict=True))
    document = _box_document(source.decode(), _mark_words(source.decode(), words, mark))
    _prepare(document, mark=mark)
    for node in document.select(HIDING):
        if hides_its_content(node) and node.tag != "sup":
            node.extract()
    return sanitised(_body_of(document))


def _box_document(source: str, html: str) -> turbohtml.Document:
    """Parse a candidate's HTML inside an element in which its first tag is allowed."""
    tag = _FIRST_TAG.match(source)
    opening, closing = _CONTEXT.get(tag[1].lower(), ("", "")) if tag else ("", "")
    return turbohtml.parse(f"{opening}{html}{closing}")


def _body_of(document: turbohtml.Document) -> str:
    body = document.find("body")
    return body.inner_html if body is not None else ""


def character_offsets(encoded: bytes, places: Sequence[int]) -> list[int]:
    """Return the index of the character that begins at each UTF-8 byte offset; offsets may be in any order."""
    character_at, before, character = dict[int, int](), 0, 0
    for place in sorted(set(places)):
        character += len(encoded[before:place].decode())
        character_at[place], before = character, place
    return [character_at[place] for place in places]


_CONTEXT = {
    "tr": ("<table>", "</table>"),
    "li": ("<ul>", "</ul>"),
    "dt": ("<dl>", "</dl>"),
    "dd": ("<dl>", "</dl>"),
}


def _mark_words(source: str, words: Sequence[tuple[int, int, int]], mark: str) -> str:
    """Wrap each stretch of text in a word; a word that spans tags gets several marks."""
    out: list[str] = []
    position = 0
    cursor = 0
    for token in tag_soup(source):
        at, position = position, position + len(token.source or token.data or "")
        if token.type not in (TokenType.TEXT, TokenType.CHARACTER_REFERENCE):
            out.append(source[at:position])
            continue
        while at < position:
            while cursor < len(words) and words[cursor][2] <= at:
                cursor += 1
            index, first, last = words[cursor] if cursor < len(words) else (-1, position, position)
            inside = first <= at < last
            end = min(position, last if inside else first)
            if token.type is TokenType.CHARACTER_REFERENCE:
                end = position
            out.append(f'<span {mark}="{index}">{source[at:end]}</span>' if inside else source[at:end])
            at = end
    return "".join(out)


def _is_removed(node: turbohtml.Element) -> bool:
    if node.attrs.get("id") in _REMOVED_IDS:
        return True
    return bool(
        node.tag != "sup" and (hides_its_content(node) or _REMOVED_CLASSES & set(node.attrs.get("class") or ()))
    )


def _prepare(document: turbohtml.Document, *, mark: str = "") -> None:
    """Remove a page's imitations of our markup, and show alternative texts of images; `sanitised` removes the rest."""
    for node in document.select(_OURS + (f", [{mark}]" if mark else "")):
        attributes = node.attrs
        classes = [f"wiki-{name}" for name in attributes.pop("class", None) or () if name in _CLASSES]
        if classes:
            attributes["class"] = classes
        if attributes.get("dir", "auto") not in _DIRECTIONS:
            del attributes["dir"]
        attributes.pop("data-box", None)
        attributes.pop("data-token", None)
        if mark in attributes:
            attributes["data-token"] = attributes[mark]
        if node.tag == "img" and attributes.get("alt"):
            _show_alternative(node, str(attributes["alt"]))


def _show_alternative(image: turbohtml.Element, alternative: str) -> None:
    """Replace an image by its text: images themselves are neither stored nor fetched."""
    text = turbohtml.Element("span")
    text.attrs["class"] = ["wiki-image"]
    text.append(turbohtml.Text(alternative))
    image.insert_before(text)


def sanitised(html: str, tags: Collection[str] = _TAGS) -> str:
    """Return HTML with only harmless tags and attributes left (nh3, an allow-list)."""
    return nh3.clean(
        html,
        tags=set(tags),
        attributes={name: set(values) for name, values in _ATTRIBUTES.items()},
        clean_content_tags=_CLEAN_CONTENT,
        link_rel=None,
        strip_comments=True,
    )
