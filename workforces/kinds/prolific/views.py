"""Prolific's notifications."""

import base64
import hashlib
import hmac
import json

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from workforces.kinds.prolific.rounds import ROUNDS
from workforces.models import Posting, PostingState, Workforce

MOST_BODY = 100_000


@csrf_exempt
@require_POST
def hook(request: HttpRequest) -> HttpResponse:
    """Take a notification of Prolific as a hint: the next round comes sooner, and reads everything.

    Nothing in it is believed. It may come twice, late, or in any order.
    """
    if not settings.PROLIFIC_HOOK_SECRET or len(request.body) > MOST_BODY:
        return HttpResponse(status=404)
    stamp = request.headers.get("X-Prolific-Request-Timestamp", "")
    digest = hmac.new(settings.PROLIFIC_HOOK_SECRET.encode(), stamp.encode() + request.body, hashlib.sha256).digest()
    given = request.headers.get("X-Prolific-Request-Signature", "")
    if not hmac.compare_digest(base64.b64encode(digest), given.encode()):
        return HttpResponse(status=403)
    try:
        told = json.loads(request.body)
        study = str(told.get("resource_id", "")) if str(told.get("event_type", "")).startswith("study.") else ""
    except (ValueError, AttributeError):
        return HttpResponse(status=400)
    with transaction.atomic():
        postings = (
            Posting.objects.filter(workforce__kind="prolific").exclude(hit_id="").exclude(state=PostingState.SETTLED)
        )
        postings = postings.filter(hit_id=study) if study else postings  # those of submissions don't name their study
        rows = Workforce.objects.select_for_update(no_key=True).filter(pk__in=postings.values("workforce"))
        for row in rows.order_by("pk"):
            Workforce.objects.filter(pk=row.pk).update(remote={**row.remote, "is_told": True, "round_at": ""})
        ROUNDS.request(now=timezone.now())
    return HttpResponse(status=200)
