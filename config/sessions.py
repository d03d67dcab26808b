"""Sessions in the database, whose keys are what Django makes: letters and digits.

A quoted cookie can spell any byte, NUL among them, which PostgreSQL takes in no text.
"""

import re

from django.contrib.sessions.backends import db

_KEY = re.compile("[a-z0-9]{8,40}")


class SessionStore(db.SessionStore):
    """A session of the database that refuses all other keys."""

    def _validate_session_key(self, key: str | None) -> bool:
        return bool(key and _KEY.fullmatch(key))
