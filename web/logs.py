"""Log lines, as text or JSON, without the secret tokens in URLs."""

import logging
import re
from datetime import UTC, datetime

import orjson

from database.transactions import is_away

# /visit/, /statement/, /invite/, /join/ and /api/v1/uploads/ of the platform; /join/, /s/ and /content/ of the marketplace.
_OF_REQUESTS = ("group", "status", "seconds")
_TOKEN = re.compile(r"/(visit|statement|invite|join|uploads|s|content|reset/key)/[^/\s\"'<>?]+")


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


class JsonFormatter(RedactingFormatter):
    """Format a record as one line of JSON: time (RFC 3339, UTC), level, logger, message, request_id, traceback.

    Lines about requests also have the group of their route, the status, and the seconds until the response.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the formatted line."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": redacted(record.getMessage()),
            "request_id": getattr(record, "request_id", "-"),
            "process": record.process,
        }
        line |= {name: record.__dict__[name] for name in _OF_REQUESTS if name in record.__dict__}
        if record.exc_info:
            line["traceback"] = redacted(self.formatException(record.exc_info))
        return orjson.dumps(line, default=str).decode()
