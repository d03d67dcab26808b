"""The address at which a login provider changes or ends a person's access, signed as Standard Webhooks describes.

https://www.standardwebhooks.com: the headers webhook-id, webhook-timestamp, and webhook-signature, which is the HMAC
of both and the body.
"""

import hmac
import json
from typing import Any

from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from accounts.login_file import LoginProvider
from accounts.login_providers import person_named, provider_named
from accounts.parameters import whole_number
from annotation.people.services.provider_roles import access_set
from web.webhooks import key_of, signature_of

TOLERANCE_SECONDS = 300
MOST_BYTES = 20_000


@csrf_exempt
@require_POST
def access(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Take a person's groups, and whether they are active, from the provider; answer in JSON."""
    provider, now = provider_named(provider_id), timezone.now()
    if provider is None or not provider.signing_secret:
        raise Http404
    if not _is_signed(request, provider, now.timestamp()):
        return _answer(401, "the signature or its time isn't valid")
    try:
        sent: Any = json.loads(request.body)
        subject, email = str(sent.get("subject", "")), str(sent.get("email", ""))
        is_active, groups = sent.get("active"), sent.get("groups", [])
    except (ValueError, AttributeError, RecursionError):
        return _answer(422, "the body isn't a JSON object")
    if not (is_active is None or isinstance(is_active, bool)) or not isinstance(groups, list) or not (subject or email):
        return _answer(422, 'needed: "subject" or "email", "active" as true or false, "groups" as a list')
    user = person_named(provider, subject=subject, email=email)
    if user is None:
        return _answer(404, "nobody logged in as this person")
    # An earlier message that is sent again must not undo a later one; the same one may be tried again.
    latest, name = f"provided-access:{provider.id}:{user.pk}", request.headers["webhook-id"]
    last_at, last_name = cache.get(latest, (0, ""))
    if last_at > _sent_at(request) or (last_at == _sent_at(request) and last_name != name):
        return _answer(409, "a later message about this person was applied")
    access_set(user=user, provider=provider, is_active=is_active, groups=frozenset(map(str, groups)), now=now)
    cache.set(latest, (_sent_at(request), name), 2 * TOLERANCE_SECONDS)
    return _answer(200, "ok")


def _is_signed(request: HttpRequest, provider: LoginProvider, now: float) -> bool:
    name = request.headers.get("webhook-id", "")
    if not name or abs(now - _sent_at(request)) > TOLERANCE_SECONDS or len(request.body) > MOST_BYTES:
        return False
    key = key_of(provider.signing_secret)
    expected = signature_of(key, message_id=name, timestamp=_sent_at(request), body=request.body)
    given = [one.partition(",")[2] for one in request.headers.get("webhook-signature", "").split()]
    return any(hmac.compare_digest(one.encode(), expected.encode()) for one in given)


def _sent_at(request: HttpRequest) -> int:
    return whole_number(request.headers.get("webhook-timestamp", ""), 0)


def _answer(status: int, said: str) -> HttpResponse:
    return HttpResponse(json.dumps({"result": said}), content_type="application/json", status=status)
