"""Log lines without the secret tokens in URLs."""

import logging
import re

from database.transactions import is_away

# /visit/, /statement/, /invite/ and /join/ of the platform; /join/, /s/ and /content/ of the marketplace.
_TOKEN = re.compile(r"/(visit|statement|invite|join|s|content)/[^/\s\"'<>?]+")


def redacted(text: str) -> str:
    """Return a text without the tokens in its URLs."""
    return _TOKEN.sub(r"/\1/…", text)


class ShortWhenAway(logging.Filter):
    """Omit the traceback of a request that failed because the database didn't respond; it adds nothing useful."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Shorten the record, and return True to keep it."""
        error = record.exc_info[1] if record.exc_info else None
        if record.name == "django.request" and error is not None and is_away(error):
            record.msg, record.args = f"{record.getMessage()}: the database doesn't respond", ()
            record.exc_info = record.exc_text = None
        return True


class RedactingFormatter(logging.Formatter):
    """Format a record as usual, including its traceback, without the tokens in URLs."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the formatted line."""
        return redacted(super().format(record))
