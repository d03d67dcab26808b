"""The page as an annotator sees it: sanitised, without site chrome, each candidate marked ``data-box``."""

import secrets
from collections.abc import Collection, Sequence

import nh3
import turbohtml
from turbohtml import TokenType

from documents.html.markup import CHROME_BOXES, hides_its_content
from documents.html.tokens import Candidate, Token, byte_offsets

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
_CLASSES = frozenset("infobox wikitable navbox thumb tright tleft ambox toc hatnote reflist vertical-navbox sidebar reference image".split())  # fmt: skip
_REMOVED_IDS = CHROME_BOXES | {"jump-to-nav", "mw-page-base", "mw-head-base", "siteNotice"}
_REMOVED_CLASSES = frozenset(("mw-editsection", "noprint", "printfooter", "mw-jump-link", "Z3988"))
_DIRECTIONS = frozenset(("ltr", "rtl", "auto"))
_CLEAN_CONTENT = {"script", "style", "template", "noscript", "textarea", "select", "iframe", "object", "svg", "annotation"}  # fmt: skip


def display_html(text: str, candidates: Sequence[Candidate]) -> str:
    """Return the page for reading, safe to put into ours.

    Parameters
    ----------
    text: canonical text.
    candidates: the element that starts at a candidate's first byte gets ``data-box`` with its index.
    """
    byte_of = byte_offsets(text)
    box_of = {candidate.start_byte: index for index, candidate in enumerate(candidates)}
    document = turbohtml.parse(text, source_locations=True)
    content = document.find(id="content")
    unwanted = []
    for node in document.descendants:
        if not isinstance(node, turbohtml.Element):
            continue
        if _is_removed(node):
            unwanted.append(node)
        location = node.source_location
        start = None if location is None else byte_of[location.start_tag.start_offset]
        _prepare(node, None if start is None else box_of.get(start))
    for node in unwanted:
        if node.select_one("[data-box]") is None and "data-box" not in node.attrs:
            node.extract()
    if content is None or len(content.select("[data-box]")) < len(candidates):
        content = document.find("body")
    return sanitised(content.inner_html if content is not None else "")


def box_html(text: str, tokens: Sequence[Token], candidate: Candidate) -> str:
    """Return one candidate for reading, each of its words marked ``data-token`` with its index in the page."""
    encoded = text.encode("utf-8")
    source = encoded[candidate.start_byte : candidate.end_byte].decode("utf-8")
    local = byte_offsets(source)
    inside = [
        (index, tokens[index].start_byte - candidate.start_byte, tokens[index].end_byte - candidate.start_byte)
        for index in range(candidate.start_token, candidate.end_token)
        if not tokens[index].html_token
    ]
    # A name that no page can know: its own data-token must not pass for ours.
    mark = f"data-token-{secrets.token_hex(8)}"
    marked = _mark_words(source, local, inside, mark)
    tag = tokens[candidate.start_token].token.strip("<>").split()[0].lower()
    opening, closing = _CONTEXT.get(tag, ("", ""))
    document = turbohtml.parse(f"{opening}{marked}{closing}")
    removed = []
    for node in document.descendants:
        if isinstance(node, turbohtml.Element):
            if hides_its_content(node) and node.tag != "sup":
                removed.append(node)
            else:
                _prepare(node, None, mark=mark)
    for node in removed:
        node.extract()
    body = document.find("body")
    return sanitised(body.inner_html if body is not None else "")


_CONTEXT = {
    "tr": ("<table>", "</table>"),
    "li": ("<ul>", "</ul>"),
    "dt": ("<dl>", "</dl>"),
    "dd": ("<dl>", "</dl>"),
}


def _mark_words(source: str, byte_of: Sequence[int], words: list[tuple[int, int, int]], mark: str) -> str:
    """Wrap each stretch of text that belongs to a word; a word that runs over a tag gets several."""
    out: list[str] = []
    position = 0
    cursor = 0
    for token in turbohtml.tokenize(source, resolve_references=False, capture_source=True, capture_attributes=False):
        piece = token.source if token.source is not None else token.data or ""
        start, position = position, position + len(piece)
        if token.type not in (TokenType.TEXT, TokenType.CHARACTER_REFERENCE):
            out.append(piece)
            continue
        at = start
        while at < position:
            while cursor < len(words) and words[cursor][2] <= byte_of[at]:
                cursor += 1
            index, first, last = words[cursor] if cursor < len(words) else (-1, byte_of[position], byte_of[position])
            if token.type is TokenType.CHARACTER_REFERENCE:
                wrapped = first <= byte_of[at] < last
                out.append(f'<span {mark}="{index}">{piece}</span>' if wrapped else piece)
                break
            end = at
            inside = first <= byte_of[at]
            stop = last if inside else first
            while end < position and byte_of[end] < stop:
                end += 1
            text = source[at:end]
            out.append(f'<span {mark}="{index}">{text}</span>' if inside else text)
            at = end
    return "".join(out)


def _is_removed(node: turbohtml.Element) -> bool:
    if node.attrs.get("id") in _REMOVED_IDS:
        return True
    return bool(
        node.tag != "sup" and (hides_its_content(node) or _REMOVED_CLASSES & set(node.attrs.get("class") or ()))
    )


def _prepare(node: turbohtml.Element, box: int | None, *, mark: str = "") -> None:
    """Leave on an element only what reading needs: the page's own attributes are not ours to trust."""
    alternative = node.attrs.get("alt")
    classes = [f"wiki-{name}" for name in node.attrs.get("class") or () if name in _CLASSES]
    allowed = _ATTRIBUTES["*"] | _ATTRIBUTES.get(node.tag, set())
    token = node.attrs.get(mark) if mark else None
    for name in list(node.attrs):
        if name not in allowed or name.startswith("data-"):
            del node.attrs[name]
    if token is not None:
        node.attrs["data-token"] = token
    if "dir" in node.attrs and node.attrs["dir"] not in _DIRECTIONS:
        del node.attrs["dir"]
    node.attrs.pop("class", None)
    if classes:
        node.attrs["class"] = classes
    if box is not None:
        node.attrs["data-box"] = str(box)
    if node.tag == "img" and alternative:
        _show_alternative(node, str(alternative))


def _show_alternative(image: turbohtml.Element, alternative: str) -> None:
    """Put an image's text in its place: images themselves are neither stored nor fetched."""
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
