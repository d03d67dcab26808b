"""Events and webhooks: a campaign's news as a feed and as messages."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone
from ninja import Field, Query, Router, Schema

from accounts.permissions import Action
from api.http.checks import Reply, Sent
from api.http.operations import ApiRequest, operation
from api.http.paging import Page, PageQuery, page_of
from api.http.problems import not_found
from api.http.waiting import MOST_WAIT, changes
from api.models import TokenScope, Webhook, WebhookDelivery, WebhookForm
from api.webhooks.messages import data_of, secret_of
from api.webhooks.services import (
    delivery_replay,
    webhook_create,
    webhook_delete,
    webhook_enable,
    webhook_rotate,
)
from jobs.events import KINDS
from jobs.models import Event

router = Router()
MOST_EVENTS = 500


class EventReply(Reply):
    """An event."""

    number: int = Field(description="The place in the feed.")
    type: str
    timestamp: datetime
    data: dict[str, Any]


class EventsReply(Reply):
    """Events after a number, oldest first."""

    results: list[EventReply]
    last: int = Field(description="The number to continue after.")


class EventsQuery(Schema):
    """The parameters of the feed."""

    after: int = Field(0, ge=0, lt=2**63, description="Return events after this number.")
    wait: int = Field(0, ge=0, le=MOST_WAIT, description="Wait this many seconds for an event.")


class WebhookReply(Reply):
    """A webhook. Its secret is only in the answer that creates or rotates it."""

    id: UUID
    url: str
    form: str
    kinds: list[str]
    created_at: datetime
    disabled_at: datetime | None
    problem: str = Field(description="The reason why the last attempt failed.")
    secret: str | None = None


class WebhookSent(Sent):
    """A webhook to create."""

    url: str = Field(min_length=1, max_length=2000, description="An https address, or for mail an email address.")
    form: str = Field(WebhookForm.STANDARD.value, description=f"One of: {', '.join(WebhookForm.values)}.")
    kinds: list[str] = Field([], max_length=100, description=f"Leave empty for all: {', '.join(KINDS)}.")


class DeliveryReply(Reply):
    """A message to a webhook."""

    id: UUID
    number: int = Field(validation_alias="event.number")
    type: str = Field(validation_alias="event.kind")
    attempts: int
    due_at: datetime | None = Field(description="The next attempt; null if there is none.")
    delivered_at: datetime | None
    problem: str


@operation(router, "GET", "/campaigns/{campaign}/events", EventsReply, action=Action.MANAGE)
def event_list(request: ApiRequest, campaign: str, asked: Query[EventsQuery]) -> Any:
    """Return the events after a number, at most 500. With `wait`, the answer comes with the next event.

    Numbers never appear out of order: a program that continues after `last` misses nothing. Events are kept 90 days.
    """
    rows = Event.objects.filter(scope_id=request.campaign.pk, number__gt=asked.after).order_by("number")

    def found() -> list[Event]:
        return list(rows[:MOST_EVENTS])

    events = changes(found, asked.wait)
    shown = [{"number": one.number, **data_of(one, request.campaign)} for one in events]
    return {"results": shown, "last": events[-1].number if events else asked.after}


def _webhook(request: ApiRequest, webhook_id: UUID) -> Webhook:
    found = Webhook.objects.select_related("campaign").filter(campaign=request.campaign, pk=webhook_id).first()
    if found is None:
        raise not_found()
    return found


def _with_secret(webhook: Webhook) -> dict[str, Any]:
    names = ("id", "url", "form", "kinds", "created_at", "disabled_at", "problem")
    secret = secret_of(webhook) if webhook.form == WebhookForm.STANDARD else None
    return {**{name: getattr(webhook, name) for name in names}, "secret": secret}


@operation(
    router,
    "GET",
    "/campaigns/{campaign}/webhooks",
    Page[WebhookReply],
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,  # an address of a chat is a secret itself
)
def webhook_list(request: ApiRequest, campaign: str, asked: Query[PageQuery]) -> Any:
    """List the webhooks of a campaign."""
    return page_of(request, Webhook.objects.filter(campaign=request.campaign), asked, by="created_at")


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/webhooks",
    WebhookReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
    secrets=("secret",),
    status=201,
)
def webhook_new(request: ApiRequest, campaign: str, sent: WebhookSent) -> Any:
    """Create a webhook. Its secret is in this answer only."""
    made = webhook_create(
        campaign=request.campaign,
        url=sent.url,
        form=sent.form,
        kinds=sent.kinds or list(KINDS),
        actor_id=request.user.surrogate_id,
        now=timezone.now(),
    )
    return _with_secret(made)


@operation(
    router,
    "DELETE",
    "/campaigns/{campaign}/webhooks/{webhook_id}",
    None,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
    status=204,
)
def webhook_remove(request: ApiRequest, campaign: str, webhook_id: UUID) -> Any:
    """Delete a webhook, with what was to be sent to it."""
    webhook_delete(webhook=_webhook(request, webhook_id), actor_id=request.user.surrogate_id, now=timezone.now())


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/webhooks/{webhook_id}/rotate",
    WebhookReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
    secrets=("secret",),
)
def webhook_renew(request: ApiRequest, campaign: str, webhook_id: UUID) -> Any:
    """Give a webhook a new secret. For a day, messages are signed with the old one too."""
    actor_id, now = request.user.surrogate_id, timezone.now()
    return _with_secret(webhook_rotate(webhook=_webhook(request, webhook_id), actor_id=actor_id, now=now))


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/webhooks/{webhook_id}/enable",
    WebhookReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def webhook_on(request: ApiRequest, campaign: str, webhook_id: UUID) -> Any:
    """Send to a webhook again that was turned off because its receiver answered that it is gone (410)."""
    webhook_enable(webhook=_webhook(request, webhook_id), actor_id=request.user.surrogate_id, now=timezone.now())
    return _webhook(request, webhook_id)


@operation(
    router,
    "GET",
    "/campaigns/{campaign}/webhooks/{webhook_id}/deliveries",
    Page[DeliveryReply],
    action=Action.MANAGE,
)
def delivery_list(request: ApiRequest, campaign: str, webhook_id: UUID, asked: Query[PageQuery]) -> Any:
    """List the messages to a webhook, newest first."""
    rows = WebhookDelivery.objects.filter(webhook=_webhook(request, webhook_id)).select_related("event")
    return page_of(request, rows, asked, by="event_id", newest_first=True)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/webhooks/{webhook_id}/deliveries/{delivery_id}/replay",
    DeliveryReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def delivery_again(request: ApiRequest, campaign: str, webhook_id: UUID, delivery_id: UUID) -> WebhookDelivery:
    """Send a message again, with the same id."""
    rows = WebhookDelivery.objects.filter(webhook=_webhook(request, webhook_id)).select_related("event")
    found = rows.filter(pk=delivery_id).first()
    if found is None:
        raise not_found()
    delivery_replay(delivery=found, now=timezone.now())
    found.refresh_from_db()
    return found
