"""What a page is called."""

import html
import re

_TITLE = re.compile(r"(?is)<title[^>]*>(.*?)</title>")
_SITE_NAME = re.compile(r"\s+[-–—]\s+Wikipedia\b.*$|\s*[-–—]\s*维基百科.*$")
_BLANKS = re.compile(r"\s+")


def title_of(text: str, fallback: str) -> str:
    """Return the title of a page without the site's name."""
    match = _TITLE.search(text)
    found = _BLANKS.sub(" ", html.unescape(match.group(1))).strip() if match else ""
    return (_SITE_NAME.sub("", found) or fallback)[:500]
