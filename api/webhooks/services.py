"""Creating, changing and testing webhooks, and putting events into their outbox."""

import re
from collections.abc import Collection
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils import timezone

from accounts.audit import record
from annotation.models import Campaign
from api.models import Webhook, WebhookDelivery, WebhookForm
from database.transactions import durable
from jobs.events import KINDS, events_forget, events_number
from jobs.models import Event
from jobs.services import job_enqueue
from jobs.work import Work
from web.errors import KeyedError
from web.mails import plain_address

PUBLISH_JOB, SEND_JOB = "api.publish_events", "api.send_webhooks"
MOST_WEBHOOKS = 20  # of a campaign
_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?|[0-9a-f:.]+")


class WebhookError(KeyedError):
    """A webhook can't be created or changed as requested."""


def address_check(url: str, form: str) -> None:
    """Refuse an address that nothing can be sent to: webhooks need https, and mail a plain email address."""
    if form == WebhookForm.MAIL:
        try:
            plain_address(url)
        except ValidationError as error:
            raise WebhookError("webhook_mail", url=url[:200]) from error
        return
    try:
        parts = urlsplit(url)
        host, _port = (parts.hostname or "").lower(), parts.port
    except ValueError as error:
        raise WebhookError("webhook_url", url=url[:200]) from error
    schemes = ("https", "http") if settings.WEBHOOKS_LOCAL else ("https",)
    is_address = parts.scheme in schemes and _HOST.fullmatch(host) and not parts.username and url.isprintable()
    if not is_address or len(url) > 2000:
        raise WebhookError("webhook_url", url=url[:200])


def _kinds_check(kinds: Collection[str]) -> None:
    if not kinds or set(kinds) - set(KINDS):
        raise WebhookError("webhook_kinds", known=", ".join(KINDS))


@durable
def webhook_create(
    *, campaign: Campaign, url: str, form: str, kinds: Collection[str], actor_id: UUID | None, now: datetime
) -> Webhook:
    """Create a webhook. It gets the events that happen from now on.

    Raises
    ------
    WebhookError
        Nothing can be sent to this address, a kind of event is unknown, or the campaign has too many webhooks.
    """
    if form not in WebhookForm.values:
        raise WebhookError("webhook_form", known=", ".join(WebhookForm.values))
    address_check(url, form)
    _kinds_check(kinds)
    if Webhook.objects.filter(campaign=campaign).count() >= MOST_WEBHOOKS:
        raise WebhookError("webhooks_many", most=MOST_WEBHOOKS)
    webhook = Webhook.objects.create(
        campaign=campaign, url=url, form=form, kinds=sorted(kinds), created_by_id=actor_id, created_at=now
    )
    _record("webhook_create", webhook, actor_id, now, kinds=webhook.kinds, form=form)
    return webhook


def _record(action: str, webhook: Webhook, actor_id: UUID | None, now: datetime, **data: Any) -> None:
    record(action=action, subject=webhook, now=now, actor_id=actor_id, scope_id=webhook.campaign_id, **data)


@durable
def webhook_delete(*, webhook: Webhook, actor_id: UUID | None, now: datetime) -> None:
    """Delete a webhook, with what was to be sent to it."""
    _record("webhook_delete", webhook, actor_id, now)
    webhook.delete()


@durable
def webhook_rotate(*, webhook: Webhook, actor_id: UUID | None, now: datetime) -> Webhook:
    """Give a webhook a new secret. For a day, messages are signed with the old one too."""
    held = Webhook.objects.select_for_update(no_key=True).get(pk=webhook.pk)
    held.generation, held.rotated_at = held.generation + 1, now
    held.save(update_fields=["generation", "rotated_at"])
    _record("webhook_rotate", held, actor_id, now)
    return held


@durable
def webhook_enable(*, webhook: Webhook, actor_id: UUID | None, now: datetime) -> None:
    """Send to a webhook again that was turned off because its receiver is gone."""
    if Webhook.objects.filter(pk=webhook.pk).exclude(disabled_at=None).update(disabled_at=None, problem=""):
        _record("webhook_enable", webhook, actor_id, now)


@durable
def delivery_replay(*, delivery: WebhookDelivery, now: datetime) -> None:
    """Send a message again, with the same id; its receiver may know it already."""
    WebhookDelivery.objects.filter(pk=delivery.pk).update(due_at=now, attempts=0, delivered_at=None, problem="")
    job_enqueue(kind=SEND_JOB, payload={}, now=now, key=SEND_JOB)


def events_publish(work: Work) -> dict[str, Any]:
    """Give new events their numbers, and put them into the outbox of each webhook that wants them."""
    published = work.job.result.get("published", 0)
    while True:
        with work.step():
            events = events_number()
            wanted = list(Webhook.objects.filter(campaign__in={one.scope_id for one in events}, disabled_at=None))
            rows = [
                WebhookDelivery(webhook=webhook, event=event, due_at=event.at)
                for event in events
                for webhook in wanted
                if webhook.campaign_id == event.scope_id
                and event.kind in webhook.kinds
                and event.at >= webhook.created_at
            ]
            WebhookDelivery.objects.bulk_create(rows, batch_size=500)
            if rows:
                job_enqueue(kind=SEND_JOB, payload={}, now=max(one.at for one in events), key=SEND_JOB)
            published += len(events)
            work.checkpoint(published=published)
        if not events:
            events_forget(timezone.now())
            return {"published": published}


def events_due(now: datetime) -> None:
    """Request the job that publishes events, and the one that sends messages, if there is work for them."""
    if Event.objects.filter(number=None).exists():
        job_enqueue(kind=PUBLISH_JOB, payload={}, now=now, key=PUBLISH_JOB)
    if WebhookDelivery.objects.filter(due_at__lte=now, webhook__disabled_at=None).exists():
        job_enqueue(kind=SEND_JOB, payload={}, now=now, key=SEND_JOB)
