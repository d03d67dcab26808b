"""Failed logins, counted by account and by network address; successful logins aren't counted.

The limit for an account from one address is low (`ACCOUNT_RATE_LIMITS`, counted by allauth). A stranger who knows a
name therefore can't lock its owner out from elsewhere. The limit for an account over all addresses is higher, and the
limit for an address over all accounts is far higher, so that a class behind one address can log in at once.
"""

import hashlib
import time
from contextlib import suppress
from typing import Any

from allauth.core.internal.ratelimit import get_ip
from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest

SECONDS = 900


class FailuresByAddress:
    """A mixin for an adapter: refuse logins from an address, or to an account, after many failures."""

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Refuse to check passwords if too many were wrong recently."""
        limits = (settings.LOGIN_FAILURES_PER_ADDRESS, settings.LOGIN_FAILURES_PER_ACCOUNT)
        if any(cache.get(key, 0) >= most for key, most in zip(_keys(request, credentials), limits, strict=True)):
            raise self.validation_error("too_many_login_attempts")  # type: ignore[attr-defined]
        super().pre_authenticate(request, **credentials)  # type: ignore[misc]

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        """Count a failed login."""
        for key in _keys(request, credentials):
            counted(key, SECONDS)

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Return the key under which allauth counts an account's failures, extended by the network address."""
        key = super()._get_login_attempts_cache_key(request, **credentials)  # type: ignore[misc]
        return f"{key}:{get_ip(request)}"


def counted(key: str, seconds: int) -> int:
    """Increase a counter in the cache and return it.

    The counter restarts after ``seconds`` without an increase.
    """
    if cache.add(key, 1, timeout=seconds):
        return 1
    with suppress(ValueError):  # it has just expired
        found: int = cache.incr(key)
        cache.touch(key, seconds)
        return found
    return 1


def digest(text: str) -> str:
    """Return a digest of a name for use in a cache key, for names of any length and any characters."""
    return hashlib.sha256(text.strip().lower().encode()).hexdigest()


def _keys(request: HttpRequest, credentials: dict[str, Any]) -> tuple[str, str]:
    quarter = int(time.time() / SECONDS)  # a new count begins with each
    name = digest(str(credentials.get("email") or credentials.get("username") or ""))
    return f"login-failures:{quarter}:address:{get_ip(request)}", f"login-failures:{quarter}:account:{name}"
