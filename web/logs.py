"""Log lines without the addresses that give access."""

import logging
import re

from database.transactions import is_away

# /visit/, /statement/, /invite/ and /join/ of the platform; /join/, /s/ and /content/ of the marketplace.
_TOKEN = re.compile(r"/(visit|statement|invite|join|s|content)/[^/\s\"'<>?]+")


def redacted(text: str) -> str:
    """Return a text without the tokens of addresses in it."""
    return _TOKEN.sub(r"/\1/…", text)


class ShortWhenAway(logging.Filter):
    """Leave out the traceback of a request that failed because the database did not answer: it says nothing more."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Shorten the record, and keep it."""
        error = record.exc_info[1] if record.exc_info else None
        if record.name == "django.request" and error is not None and is_away(error):
            record.msg, record.args = f"{record.getMessage()}: the database doesn't respond", ()
            record.exc_info = record.exc_text = None
        return True


class RedactingFormatter(logging.Formatter):
    """Write a record as usual, traceback included, with the tokens of addresses left out."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return redacted(super().format(record))
