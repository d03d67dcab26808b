"""Sending messages to webhooks: outside of transactions, several at once, each receiver at its own pace.

A message is claimed by moving its due time, so a worker that is killed sends it again later: each event arrives at
least once, and its id tells receivers whether they have had it.
"""

import random
import smtplib
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.mail import send_mail
from django.db import connection
from django.utils import timezone

from api.models import Webhook, WebhookDelivery, WebhookForm
from api.webhooks.messages import chat_message, sentence_of, signed_message
from database.transactions import refuse_transaction
from jobs.work import Work
from web.outgoing import Answer, NotSent, address_of, post

# The attempts that Standard Webhooks proposes, over three days.
RETRY_SECONDS = (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
LEASE = timedelta(minutes=5)
AT_ONCE, ROUND_SECONDS = 4, 20.0
ANSWER_SECONDS = 20.0
GONE = 410


def webhooks_send(work: Work) -> dict[str, Any]:
    """Send what is due for some seconds; what is left is due at the next tick."""
    until, sent = time.monotonic() + ROUND_SECONDS, 0
    while time.monotonic() < until:
        due = WebhookDelivery.objects.filter(due_at__lte=timezone.now(), webhook__disabled_at=None)
        webhooks = list(due.order_by().values_list("webhook", flat=True).distinct()[: AT_ONCE * 4])
        if not webhooks:
            break
        with ThreadPoolExecutor(AT_ONCE) as pool:
            sent += sum(pool.map(lambda webhook_id: _send_to(webhook_id, until), webhooks))
        work.progress(work.job.done + sent)
    return {"sent": sent}


def _send_to(webhook_id: Any, until: float) -> int:
    """Send what is due for one receiver, oldest first; stop at its first failure. Return the number of attempts."""
    tried = 0
    try:
        while time.monotonic() < until:
            rows = WebhookDelivery.objects.filter(webhook_id=webhook_id, due_at__lte=timezone.now())
            delivery = rows.select_related("webhook__campaign", "event").order_by("due_at", "event__number").first()
            if delivery is None or not _claimed(delivery):
                break
            tried += 1
            if not _attempt(delivery):
                break
    finally:
        connection.close()
    return tried


def _claimed(delivery: WebhookDelivery) -> bool:
    claim = WebhookDelivery.objects.filter(pk=delivery.pk, due_at=delivery.due_at, attempts=delivery.attempts)
    return bool(claim.update(due_at=timezone.now() + LEASE))


def _attempt(delivery: WebhookDelivery) -> bool:
    """Try to send a message once, and save what came of it."""
    refuse_transaction()
    webhook, problem, retry_after, is_gone = delivery.webhook, "", "", False
    try:
        answer = _sent(delivery)
        if not 200 <= answer.status < 300:
            problem, retry_after, is_gone = f"HTTP status {answer.status}", answer.retry_after, answer.status == GONE
    except NotSent as error:
        problem = str(error)[:500]
    except Exception as error:  # noqa: BLE001  whatever one address does, the others get their messages
        problem = f"{type(error).__name__}: {error}"[:500]
    now = timezone.now()
    WebhookDelivery.objects.filter(pk=delivery.pk, attempts=delivery.attempts).update(
        attempts=delivery.attempts + 1,
        delivered_at=None if problem else now,
        due_at=_next_at(delivery.attempts, retry_after, now) if problem and not is_gone else None,
        problem=problem,
    )
    if problem:
        Webhook.objects.filter(pk=webhook.pk).update(problem=problem, **({"disabled_at": now} if is_gone else {}))
    elif webhook.problem:
        Webhook.objects.filter(pk=webhook.pk).update(problem="")
    return not problem


def _next_at(attempts: int, retry_after: str, now: datetime) -> datetime | None:
    """Return when to try again, None after three days. A little chance keeps receivers from being met all at once."""
    if attempts >= len(RETRY_SECONDS):
        return None
    seconds = RETRY_SECONDS[attempts] * random.uniform(1, 1.1)  # noqa: S311  only a pause
    asked = float(retry_after) if retry_after.isdecimal() else 0.0
    return now + timedelta(seconds=max(seconds, min(asked, RETRY_SECONDS[-1])))


def _sent(delivery: WebhookDelivery) -> Answer:
    webhook, campaign = delivery.webhook, delivery.webhook.campaign
    if webhook.form == WebhookForm.MAIL:
        text = sentence_of(delivery.event, campaign)
        try:
            send_mail(text[:120], f"{text}\n\n{settings.PLATFORM_URL}/campaigns/{campaign.slug}/", None, [webhook.url])
        except (OSError, smtplib.SMTPException) as error:
            raise NotSent(f"mail: {type(error).__name__}") from error
        return Answer(200, "")
    address = address_of(webhook.url, is_local=settings.WEBHOOKS_LOCAL)
    if address is None:
        raise NotSent("the address is inside this installation's own network, or can't be found")
    now = timezone.now()
    body, headers = (
        chat_message(delivery.event, campaign)
        if webhook.form == WebhookForm.CHAT
        else signed_message(delivery, campaign, now)
    )
    return post(webhook.url, address, body, headers, seconds=ANSWER_SECONDS)
