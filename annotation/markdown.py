"""Markdown written by managers, as harmless HTML."""

from functools import lru_cache

from markdown_it import MarkdownIt

from documents.html.display import sanitised

_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


@lru_cache(maxsize=32)
def markdown_html(text: str) -> str:
    """Return sanitized HTML."""
    return sanitised(str(_MARKDOWN.render(text)))
