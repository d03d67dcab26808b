"""Log lines without the addresses that give access."""

import logging
import re

# /visit/, /statement/, /invite/ and /join/ of the platform; /join/, /s/ and /content/ of the marketplace.
_TOKEN = re.compile(r"/(visit|statement|invite|join|s|content)/[^/\s\"'<>?]+")


def redacted(text: str) -> str:
    """Return a text without the tokens of addresses in it."""
    return _TOKEN.sub(r"/\1/…", text)


class RedactingFormatter(logging.Formatter):
    """Write a record as usual, traceback included, with the tokens of addresses left out."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return redacted(super().format(record))
