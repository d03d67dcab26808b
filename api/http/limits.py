"""The number of requests per token and minute (RateLimit headers of draft-ietf-httpapi-ratelimit-headers-11)."""

import time
from contextlib import suppress

from django.conf import settings
from django.core.cache import cache

from api.http.problems import Refused

WINDOW_SECONDS = 60


def request_count(token_id: str) -> dict[str, str]:
    """Count a request of a token, and return the headers that state what is left.

    Raises
    ------
    Refused
        The token has used up its requests of this minute (429).
    """
    most = settings.API_REQUESTS_PER_MINUTE
    now = time.time()
    window, left_seconds = int(now // WINDOW_SECONDS), int(WINDOW_SECONDS - now % WINDOW_SECONDS) + 1
    key = f"api:{token_id}:{window}"
    count = 1
    if not cache.add(key, 1, timeout=2 * WINDOW_SECONDS):
        with suppress(ValueError):  # it has just expired
            count = cache.incr(key)
    headers = {
        "RateLimit-Policy": f'"minute";q={most};w={WINDOW_SECONDS}',
        "RateLimit": f'"minute";r={max(0, most - count)};t={left_seconds}',
    }
    if count > most:
        said = f"This token may make {most} requests per minute. Try again in {left_seconds} seconds."
        raise Refused(429, "quota_exceeded", said, headers={**headers, "Retry-After": str(left_seconds)})
    return headers
