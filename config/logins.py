"""Failed logins, counted by account and by address; who gets in counts for nothing.

By account allauth counts (`ACCOUNT_RATE_LIMITS`). By address the limit is far higher, so that a class behind one
address can log in at once, and failures alone count.
"""

from typing import Any

from allauth.core.internal.ratelimit import get_ip
from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest

SECONDS = 900


class FailuresByAddress:
    """Part of an adapter: refuse logins from an address after many failures."""

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Refuse to compare passwords when too many were wrong lately."""
        if cache.get(_key(request), 0) >= settings.LOGIN_FAILURES_PER_ADDRESS:
            raise self.validation_error("too_many_login_attempts")  # type: ignore[attr-defined]
        super().pre_authenticate(request, **credentials)  # type: ignore[misc]

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        """Count a failure."""
        if not cache.add(_key(request), 1, timeout=SECONDS):
            cache.incr(_key(request))


def _key(request: HttpRequest) -> str:
    return f"login-failures:{get_ip(request)}"
