"""What is sent: signed JSON by Standard Webhooks, one sentence for a chat channel, or an email."""

import base64
import json
from datetime import datetime, timedelta
from typing import Any

from django.utils.crypto import salted_hmac

from annotation.models import Campaign
from api.models import Webhook, WebhookDelivery
from jobs.events import KINDS
from jobs.models import Event
from web.webhooks import signature_of

OLD_SECRET_HOURS = 24


def secret_of(webhook: Webhook, *, before: int = 0) -> str:
    """Return the secret of a webhook, or the one that it had ``before`` rotations ago."""
    return "whsec_" + base64.b64encode(_key(webhook, webhook.generation - before)).decode()


def _key(webhook: Webhook, generation: int) -> bytes:
    return salted_hmac("quorate.webhook", f"{webhook.pk}:{generation}", algorithm="sha256").digest()


def data_of(event: Event, campaign: Campaign) -> dict[str, Any]:
    """Return an event as the feed and the messages show it."""
    return {
        "type": event.kind,
        "timestamp": event.at.isoformat().replace("+00:00", "Z"),
        "data": {"campaign": campaign.slug, "number": event.number, **event.data},
    }


def sentence_of(event: Event, campaign: Campaign) -> str:
    """Return one sentence about an event, for people."""
    told = ", ".join(f"{name} {value}" for name, value in event.data.items() if isinstance(value, str | int))
    return f"{campaign.title}: {KINDS[event.kind]}{f' ({told})' if told else ''}."


def signed_message(delivery: WebhookDelivery, campaign: Campaign, now: datetime) -> tuple[bytes, dict[str, str]]:
    """Return the body and the headers of a message. During a rotation it is signed with both secrets."""
    webhook, timestamp = delivery.webhook, int(now.timestamp())
    body = json.dumps(data_of(delivery.event, campaign), ensure_ascii=False).encode()
    message_id = f"msg_{delivery.pk.hex}"
    generations = [webhook.generation]
    if webhook.rotated_at is not None and now - webhook.rotated_at < timedelta(hours=OLD_SECRET_HOURS):
        generations.append(webhook.generation - 1)
    signatures = [
        "v1," + signature_of(_key(webhook, one), message_id=message_id, timestamp=timestamp, body=body)
        for one in generations
    ]
    return body, {
        "Content-Type": "application/json",
        "User-Agent": "Quorate",
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signatures),
    }


def chat_message(event: Event, campaign: Campaign) -> tuple[bytes, dict[str, str]]:
    """Return the body and the headers of a text for a chat channel ("incoming webhook")."""
    body = json.dumps({"text": sentence_of(event, campaign)}, ensure_ascii=False).encode()
    return body, {"Content-Type": "application/json", "User-Agent": "Quorate"}
