"""Database sessions and their users, which every request reads, with statements that are compiled once.

Session keys are those that Django creates. A quoted cookie can contain any byte, such as NUL, which PostgreSQL can't
store in text.
"""

import re

from allauth.account.auth_backends import AuthenticationBackend
from django.contrib.auth import get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from database.statements import Statement

_KEY = re.compile("[a-z0-9]{8,40}")
_SESSION = Statement(lambda key: Session.objects.filter(session_key=key), str)
_USER = Statement(lambda pk: get_user_model().objects.filter(pk=pk), int)


class SessionStore(db.SessionStore):
    """A database session that refuses keys not created by Django."""

    def _validate_session_key(self, key: str | None) -> bool:
        return bool(key and _KEY.fullmatch(key))

    def _get_session_from_db(self) -> Session | None:
        found: Session | None = _SESSION.first(self.session_key) if self.session_key else None
        if found is not None and found.expire_date > timezone.now():
            return found
        self._session_key = None
        return None


class UserBackend(AuthenticationBackend):  # type: ignore[misc]  # untyped library
    """allauth's backend, with a faster lookup of a session's user."""

    def get_user(self, user_id: int) -> AbstractBaseUser | None:
        """Return the user of a session, if they are allowed to log in."""
        user: AbstractBaseUser | None = _USER.first(user_id)
        return user if user is not None and self.user_can_authenticate(user) else None
