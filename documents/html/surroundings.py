"""The context that makes a box understandable on its own: its heading, its introduction, and its neighbors."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from itertools import islice

import turbohtml
from turbohtml import Element

from documents.html.display import sanitised

NEIGHBOURS = 2  # on either side
MOST_CHARACTERS = 3000  # of a neighbor: a table that fills screens explains nothing
MOST_HEADER_ROWS = 3

_HEADINGS = "h1, h2, h3, h4, h5, h6"
_BLOCKS = frozenset("p ul ol dl dt dd li table tr h1 h2 h3 h4 h5 h6 blockquote pre div section figure".split())
_LISTS = frozenset(("ul", "ol", "dl"))
_AROUND = {"tr": "table", "li": "ul", "dd": "dl", "dt": "dl"}  # where alone these may stand


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The text of the heading above a box, and HTML of its introduction and of its neighbors before and after."""

    heading: str = ""
    lead: str = ""
    before: str = ""
    after: str = ""


def surroundings(display: str, index: int) -> Surroundings:
    """Return the context of a box.

    Parameters
    ----------
    display: the page for reading, sanitized, of `documents.html.display.display_html`.
    index: the index of the candidate.
    """
    page = turbohtml.parse(display)
    box = page.select_one(f'[data-box="{index}"]')
    if box is None:
        return Surroundings()
    heading = ""
    for node in page.select(f'{_HEADINGS}, [data-box="{index}"]'):
        if node is box:
            break
        heading = node.text.strip()
    for node in page.select("[data-box]"):
        del node.attrs["data-box"]
    before = list(islice(_neighbours(box.previous_siblings), NEIGHBOURS))[::-1]
    after = islice(_neighbours(box.next_siblings), NEIGHBOURS)
    shown = (_lead(box), _joined(box, before), _joined(box, after))
    # Sanitized before; writing HTML that was read once more must not bring back what was taken away.
    return Surroundings(heading, *(sanitised(html) for html in shown))


def _lead(box: Element) -> str:
    """Return the introduction of a box: a table's caption and headers, the sentence before a list, a defined term."""
    if box.tag == "tr":
        return _headers(box)
    if box.tag == "dd":
        term = next((node for node in _elements(box.previous_siblings) if node.tag == "dt"), None)
        return f"<dl>{term.html}</dl>" if term is not None else ""
    whole = box if box.tag in _LISTS else box.parent
    if not isinstance(whole, Element) or whole.tag not in _LISTS:
        return ""
    if isinstance(whole.parent, Element) and whole.parent.tag in _AROUND:  # a list in an item of another
        own = "".join(node.text for node in reversed(list(whole.previous_siblings))).strip()
        return f"<p>{escape(own)}</p>" if own else ""
    before = next(_neighbours(whole.previous_siblings), None)
    return before.html if before is not None and before.tag == "p" else ""


def _headers(row: Element) -> str:
    table = row.closest("table")
    if table is None:
        return ""
    caption = table.select_one("caption")
    headers = []
    for other in islice(table.select("tr"), MOST_HEADER_ROWS):
        if other is row or other.select_one("td") is not None:
            break
        headers.append(other.html)
    inside = (caption.html if caption is not None else "") + "".join(headers)
    return f"<table>{inside}</table>" if inside else ""


def _neighbours(nodes: Iterable[object]) -> Iterator[Element]:
    """Return the elements with a text, up to the first that is too long to help."""
    for node in _elements(nodes):
        length = len(node.text.strip())
        if length > MOST_CHARACTERS:
            return
        if length and node.tag in _BLOCKS:
            yield node


def _elements(nodes: Iterable[object]) -> Iterator[Element]:
    return (node for node in nodes if isinstance(node, Element))


def _joined(box: Element, nodes: Iterable[Element]) -> str:
    html = "".join(node.html for node in nodes)
    around = _AROUND.get(box.tag)
    return f"<{around}>{html}</{around}>" if html and around else html
