"""Gold keys: list, correct, retire, make of a pilot, and have experts confirm them."""

from datetime import datetime
from typing import Any

from django.utils import timezone
from ninja import Field, Query, Router

from accounts.permissions import Action
from api.http.checks import Reply, Sent, checked
from api.http.operations import ApiRequest, operation
from api.http.paging import Page, PageQuery, page_of
from api.http.rows import row_of
from api.models import TokenScope
from api.resources.jobs import JobReply, job_queued
from jobs.models import Job
from quality.gold.forms import PilotKeysForm
from quality.gold.services.key_changes import gold_key_ask, gold_key_edit, gold_key_retire
from quality.models import GoldKey
from quality.payloads import PilotKeysPayload

router = Router()


class GoldKeyReply(Reply):
    """A gold key."""

    id: int = Field(validation_alias="pk")
    item_id: int
    external_id: str = Field(validation_alias="item.external_id")
    accepted: Any
    state: str
    confirmed_at: datetime | None
    retired_reason: str
    exposures: int


class AcceptedSent(Sent):
    """The accepted answers of a gold key."""

    accepted: Any


class KeyRetireSent(Sent):
    """The reason for retiring a gold key."""

    reason: str = Field(min_length=1, max_length=300)
    is_wrong: bool = Field(False, description="Set this if the key was wrong: its checks no longer count.")


class KeyExpertsSent(Sent):
    """The number of experts who confirm each key."""

    experts: int = 1


class AskReply(Reply):
    """The result of sending a gold key to experts."""

    is_new: bool = Field(description="False if the experts already had the item.")


@operation(
    router, "GET", "/campaigns/{campaign}/gold-keys", Page[GoldKeyReply], action=Action.MANAGE, scope=TokenScope.MANAGE
)
def gold_list(request: ApiRequest, campaign: str, asked: Query[PageQuery]) -> Any:
    """List the gold keys with their accepted answers. The token needs the scope `manage`."""
    return page_of(request, GoldKey.objects.filter(campaign=request.campaign).select_related("item"), asked)


def _key(request: ApiRequest, key_id: int) -> GoldKey:
    return row_of(GoldKey.objects.filter(campaign=request.campaign).select_related("item", "campaign"), pk=key_id)


@operation(
    router,
    "PUT",
    "/campaigns/{campaign}/gold-keys/{int:key_id}/accepted",
    GoldKeyReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def gold_change(request: ApiRequest, campaign: str, key_id: int, sent: AcceptedSent) -> GoldKey:
    """Correct the accepted answers of a gold key. Earlier checks are compared again."""
    key = _key(request, key_id)
    gold_key_edit(key=key, accepted=sent.accepted, actor_id=request.user.surrogate_id, now=timezone.now())
    return _key(request, key_id)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/gold-keys/{int:key_id}/retire",
    GoldKeyReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def gold_end(request: ApiRequest, campaign: str, key_id: int, sent: KeyRetireSent) -> GoldKey:
    """Retire a gold key."""
    actor_id, now = request.user.surrogate_id, timezone.now()
    gold_key_retire(key=_key(request, key_id), reason=sent.reason, is_wrong=sent.is_wrong, actor_id=actor_id, now=now)
    return _key(request, key_id)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/gold-keys:from-pilot",
    JobReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
    status=202,
)
def gold_of_pilot(request: ApiRequest, campaign: str, sent: KeyExpertsSent) -> Job:
    """Make gold keys of the pilot items that annotators agreed on."""
    cleaned = checked(PilotKeysForm(sent.dict()))
    payload = PilotKeysPayload(campaign=str(request.campaign.pk), experts=cleaned["experts"])
    return job_queued(request, "quality.pilot_keys", payload)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/gold-keys/{int:key_id}/experts",
    AskReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def gold_ask(request: ApiRequest, campaign: str, key_id: int, sent: KeyExpertsSent) -> Any:
    """Have experts confirm a gold key; they aren't told that it is one. Until then it isn't used for checks."""
    rows = GoldKey.objects.filter(campaign=request.campaign).select_related("item__campaign", "campaign")
    key = row_of(rows, pk=key_id)
    actor_id, now = request.user.surrogate_id, timezone.now()
    return {"is_new": gold_key_ask(key=key, experts=sent.experts, actor_id=actor_id, now=now)}
