"""Omitted end tags, written into a page so that its tags are balanced.

The published files are serialized trees in which every element is closed. A page that omits end tags gets
them where a browser closes the elements; any other page stays unchanged, byte for byte.
"""

from collections.abc import Sequence

from documents.html.errors import Unbalanced
from documents.html.markup import Element, Page


def closed_page(text: str, *, max_nodes: int, max_depth: int) -> Page:
    """Return the structure of a page with every structural element closed; ``Page.text`` includes the end tags.

    Raises
    ------
    Unbalanced
        With the end tags added, the page is parsed differently than before.
    LimitExceeded
    """
    page = Page(text, max_nodes=max_nodes, max_depth=max_depth)
    open_ended = [element for element in page.elements if element.end_tag_start is None]
    if not open_ended:
        return page
    names = [element.tag for element in page.elements]
    page = Page(_with_end_tags(text, open_ended), max_nodes=max_nodes, max_depth=max_depth)
    if [element.tag for element in page.elements] != names or any(
        element.end_tag_start is None for element in page.elements
    ):
        raise Unbalanced("end tags are missing, and where they belong is not clear: close the elements of this page")
    return page


def _with_end_tags(text: str, open_ended: Sequence[Element]) -> str:
    pieces, position = list[str](), 0
    # At one place the inner element is closed first: it began later.
    for element in sorted(open_ended, key=lambda element: (element.end, -element.start)):
        pieces += text[position : element.end], f"</{element.tag}>"
        position = element.end
    return "".join([*pieces, text[position:]])
