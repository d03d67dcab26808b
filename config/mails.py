"""Mails lead to the address that we are known by, whatever name or port a request came with."""

from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit, urlunsplit


def with_our_address(context: dict[str, Any], ours: str) -> dict[str, Any]:
    """Return what a mail is filled with: our name, and every address in it at ``ours`` (scheme, host and port)."""
    scheme, host = urlsplit(ours)[:2]
    changed = {
        name: urlunsplit((scheme, host, *urlsplit(value)[2:]))
        for name, value in context.items()
        if name.endswith("_url") and isinstance(value, str)
    }
    return {**context, **changed, "current_site": SimpleNamespace(name=host, domain=host)}
