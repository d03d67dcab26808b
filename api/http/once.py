"""One effect per request: the effect, the audit trail and the kept answer are one transaction.

If the process ends at any moment, either all of it is saved or nothing. A repeated request with the same
``Idempotency-Key`` gets the kept answer. Refused requests have no effect and aren't kept, so they can be repeated.
"""

import hashlib
from collections.abc import Callable, Collection
from datetime import datetime, timedelta

import orjson
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from api.http.problems import Refused
from api.models import ApiToken, KeptAnswer
from database.transactions import durable

KEPT_HOURS = 48
MOST_KEY = 255
KEPT_HEADERS = ("Content-Type", "ETag", "Location")


def fingerprint_of(request: HttpRequest, body_sha256: str) -> str:
    """Return a hash that is equal for requests that ask for the same."""
    return hashlib.sha256(f"{request.method} {request.get_full_path()}\n{body_sha256}".encode()).hexdigest()


def key_of(request: HttpRequest) -> str:
    """Return the request's idempotency key, "" if it has none; a quoted string, as the draft asks, or a bare one."""
    key = request.headers.get("Idempotency-Key", "").strip().strip('"')
    if len(key) > MOST_KEY or not key.isprintable():
        raise Refused(422, "idempotency_key", f"An Idempotency-Key has at most {MOST_KEY} printable characters.")
    return key


@durable
def answer_once(
    *,
    token: ApiToken,
    key: str,
    fingerprint: str,
    act: Callable[[], HttpResponseBase],
    secrets: Collection[str],
    now: datetime,
) -> HttpResponseBase:
    """Answer a request whose effect must happen once; return the response.

    Parameters
    ----------
    secrets
        Fields of the answer that are kept as null.

    Raises
    ------
    Refused
        The key was used for another request (422).
    """
    if not key:
        return _acted(act)
    KeptAnswer.objects.filter(created_at__lt=now - timedelta(hours=KEPT_HOURS)).delete()
    # While another request with this key is running, this statement waits for its end.
    kept, is_new = KeptAnswer.objects.get_or_create(
        token=token, key=key, defaults={"fingerprint": fingerprint, "created_at": now}
    )
    if not is_new:
        if kept.fingerprint != fingerprint:
            raise Refused(422, "idempotency_key_reused", "This Idempotency-Key was used for another request.")
        headers = {**kept.headers, "Idempotency-Replayed": "true"}
        return HttpResponse(bytes(kept.body), status=kept.status, headers=headers)
    response = _acted(act)
    if response.status_code < 400 and isinstance(response, HttpResponse):
        kept.status, kept.body = response.status_code, _without(response.content, secrets)
        kept.headers = {name: response[name] for name in KEPT_HEADERS if name in response}
        kept.save()
    return response


def _without(body: bytes, secrets: Collection[str]) -> bytes:
    return orjson.dumps({**orjson.loads(body), **dict.fromkeys(secrets)}) if secrets else body


def _acted(act: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    """Carry out a request. If it is refused, undo everything that belongs to this transaction."""
    response = act()
    if response.status_code >= 400:
        transaction.set_rollback(True)
    return response
