"""The page for a question, from search results: the first Wikipedia article among the first five results.

Natural Questions kept a question if a Wikipedia page is among the top 5 search results (Kwiatkowski et al. 2019,
section 3.1).
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from sources.rules.faults import RecordFault

FIRST = 5
_LISTS = ("results", "organic_results", "organic", "items", "hits", "webPages")  # what engines call the list
_ADDRESSES = ("url", "link", "href")
# Not articles: https://en.wikipedia.org/wiki/Wikipedia:Namespace
_SPACES = frozenset(
    "talk user wikipedia file mediawiki template help category portal draft module special media image".split()
)


class Page(NamedTuple):
    """A page that was found: its rank among the results, from 1; its address and title."""

    rank: int
    url: str
    title: str


def addresses_of(row: Mapping[str, Any]) -> list[str]:
    """Return the addresses of a row of search results, in their order.

    Raises
    ------
    RecordFault
        The list of results is missing, or a result has no address.
    """
    found: Any = next((row[name] for name in _LISTS if name in row), None)
    if isinstance(found, dict):
        found = found.get("value")
    if not isinstance(found, list):
        raise RecordFault(_LISTS[0], f"expected a list of results ({', '.join(_LISTS)})")
    return [_address(one) for one in found]


def _address(result: Any) -> str:
    address = (
        next((result.get(name) for name in _ADDRESSES if name in result), None) if isinstance(result, dict) else result
    )
    if not isinstance(address, str):
        raise RecordFault(_LISTS[0], f"a result has no address ({', '.join(_ADDRESSES)})")
    return address


def wikipedia_page(addresses: Iterable[str], *, language: str, first: int = FIRST) -> Page | None:
    """Return the first article of a Wikipedia among the first results, or None.

    Desktop and mobile addresses of an article are treated as the same.
    """
    for rank, address in enumerate(addresses, 1):
        if rank > first:
            return None
        title = _title(address, language)
        if title:
            return Page(rank, f"https://{language}.wikipedia.org/wiki/{title.replace(' ', '_')}", title)
    return None


def _title(address: str, language: str) -> str:
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or parts.hostname not in (
        f"{language}.wikipedia.org",
        f"{language}.m.wikipedia.org",
    ):
        return ""
    matched = re.fullmatch(r"/wiki/([^/].*)", parts.path)
    title = " ".join(unquote(matched[1]).replace("_", " ").split()) if matched else ""
    space = title.partition(":")[0].lower() if ":" in title else ""
    return "" if space in _SPACES or space.endswith(" talk") else title
