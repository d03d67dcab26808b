"""Send queued notifications. Called by the sweep; no transaction is open while something is sent."""

import json
import uuid
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import boto3
import urllib3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from django.core.mail import send_mail

from marketplace.models import Delivery
from marketplace.services.destinations import is_reachable_from_here
from marketplace.services.faults import fault_take

_LEASE = timedelta(minutes=2)
_RETRIES = [timedelta(seconds=seconds) for seconds in (5, 30, 120, 600, 3600, 4 * 3600, 12 * 3600)]
_HTTP = urllib3.PoolManager(timeout=urllib3.Timeout(connect=5, read=10), retries=False)


class NotSent(Exception):
    """The other side did not take the message."""


def deliveries_send(*, now: datetime, most: int = 100) -> int:
    """Send what is due; return how many messages were tried. What fails is tried again, less and less often."""
    tried = 0
    due = Delivery.objects.filter(due_at__lte=now).order_by("due_at", "pk").values_list("pk", "due_at")[:most]
    for pk, due_at in list(due):
        # Conditional update: of two sweeps one gets it; if this one dies, the lease brings it back.
        if Delivery.objects.filter(pk=pk, due_at=due_at).update(due_at=now + _LEASE):
            _deliver(Delivery.objects.get(pk=pk), now)
            tried += 1
    return tried


def _deliver(delivery: Delivery, now: datetime) -> None:
    fault = fault_take("Notification")
    try:
        if fault is None or fault.kind != "lose":
            _send(delivery)
        if fault is not None and fault.kind == "duplicate":
            _send(delivery)
    except NotSent as error:
        delivery.error = str(error)[:500]
        later = _RETRIES[delivery.attempts] if delivery.attempts < len(_RETRIES) else None
        delivery.due_at = now + later if later else None
    else:
        delivery.delivered_at = now
        delivery.due_at = None
        delivery.error = ""
    delivery.attempts += 1
    delivery.save(update_fields=["due_at", "delivered_at", "attempts", "error"])


def _send(delivery: Delivery) -> None:
    if delivery.transport == "Email":
        _by_mail(delivery)
    elif not is_reachable_from_here(delivery.destination):
        raise NotSent("the destination is inside the marketplace's own network, or has no address")
    elif delivery.transport == "SQS":
        _to_queue(delivery)
    else:
        _by_http(delivery)


def _by_mail(delivery: Delivery) -> None:
    try:
        send_mail("Notification", delivery.body, None, [delivery.destination])
    except OSError as error:
        raise NotSent(f"mail: {error}") from error


def _to_queue(delivery: Delivery) -> None:
    parts = urlsplit(delivery.destination)
    client = boto3.client(
        "sqs",
        endpoint_url=f"{parts.scheme}://{parts.netloc}",
        region_name=settings.MARKETPLACE_SQS_REGION,
        aws_access_key_id=settings.MARKETPLACE_SQS_KEY or None,
        aws_secret_access_key=settings.MARKETPLACE_SQS_SECRET or None,
        config=Config(connect_timeout=5, read_timeout=10, retries={"total_max_attempts": 1}),
    )
    try:
        client.send_message(QueueUrl=delivery.destination, MessageBody=delivery.body)
    except (BotoCoreError, ClientError) as error:
        raise NotSent(f"SQS: {error}") from error


def _by_http(delivery: Delivery) -> None:
    """Post the message in the envelope of SNS; its ``Message`` is the body as a string."""
    envelope = {
        "Type": "Notification",
        "MessageId": delivery.message_id,
        "TopicArn": f"arn:quorate:sns:marketplace:{delivery.requester.customer_id}:notifications",
        "Message": delivery.body,
        "Timestamp": f"{json.loads(delivery.body)['Events'][0]['EventTimestamp'][:-1]}.000Z",
        "SignatureVersion": "none",
    }
    headers = {
        "Content-Type": "text/plain; charset=UTF-8",
        "x-amz-sns-message-type": "Notification",
        "x-amz-sns-message-id": delivery.message_id or str(uuid.uuid4()),
    }
    try:
        answer = _HTTP.request(
            "POST", delivery.destination, body=json.dumps(envelope).encode(), headers=headers, redirect=False
        )
    except urllib3.exceptions.HTTPError as error:
        raise NotSent(f"HTTP: {error}") from error
    if not 200 <= answer.status < 300:
        raise NotSent(f"HTTP status {answer.status}")
