"""Items and batches: read, launch, extend and retire them."""

from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from ninja import Field, Query, Router

from accounts.permissions import Action, can
from annotation.campaigns.forms import ExtendForm, PilotForm
from annotation.campaigns.services.campaigns import batch_schedule, campaign_move
from annotation.items.selectors import ItemFilter, items_wanted
from annotation.items.services.items import item_retire, pilot_draw
from annotation.models import Batch, CampaignState, Item
from annotation.payloads import ExtendPayload
from annotation.slots.services.slots import launch_request
from api.http.checks import Reply, Sent, checked
from api.http.operations import ApiRequest, operation
from api.http.paging import FieldsQuery, Page, PageQuery, page_of
from api.http.problems import Refused
from api.http.rows import row_of
from api.models import TokenScope
from api.resources.jobs import JobReply, job_queued
from jobs.models import Job
from quality.experts.services.cases import case_ask
from quality.models import CaseReason
from quality.policies.selectors import policy_current

router = Router()


class ItemReply(Reply):
    """An item."""

    id: int = Field(validation_alias="pk")
    external_id: str
    published_id: str
    content: dict[str, Any]
    split: str = Field(validation_alias="split.name")
    batch: int = Field(validation_alias="batch.ordinal")
    state: str
    retired_reason: str
    n: int = Field(description="The number of annotations requested.")
    created_at: datetime


class ItemQuery(PageQuery):
    """The filters of items."""

    split: str = Field("", max_length=200)
    state: str = Field("", pattern="^(active|unfinished|retired|reported)?$")
    batch: int | None = Field(None, ge=0, le=32767)
    external_id: str = Field("", max_length=200)


class RetireSent(Sent):
    """The reason for retiring an item."""

    reason: str = Field(min_length=1, max_length=300)


class ExpertsSent(Sent):
    """The number of experts who judge an item."""

    experts: int | None = Field(None, ge=1, le=25, description="null for the policy's number.")


class ExtendSent(Sent):
    """A sample that gets more annotations."""

    split: str
    n: int
    sample: int
    seed: int = Field(0, ge=-(2**31), lt=2**31)


class PilotSent(Sent):
    """The size of a pilot."""

    items: int = 20
    people: int = 2


class PilotReply(Reply):
    """The number of drawn items."""

    drawn: int


class BatchReply(Reply):
    """Items launched together."""

    ordinal: int
    purpose: str
    state: str
    opens_at: datetime | None
    created_at: datetime


class ScheduleSent(Sent):
    """The launch time of a batch."""

    opens_at: datetime | None = Field(description="With a time zone; null for no automatic launch.")


def _items(request: ApiRequest, wanted: ItemFilter) -> "QuerySet[Item]":
    shows_gold = can(request.user, Action.SEE_ANSWERS, request.campaign.pk)
    return items_wanted(campaign=request.campaign, wanted=wanted, shows_gold=shows_gold)


def item_of(request: ApiRequest, item_id: int) -> Item:
    """Return an item of the campaign that the token's owner may see."""
    return row_of(_items(request, ItemFilter()), pk=item_id)


def _batch(request: ApiRequest, ordinal: int) -> Batch:
    found = row_of(request.campaign.batches.all(), ordinal=ordinal)
    found.campaign = request.campaign
    return found


@operation(router, "GET", "/campaigns/{campaign}/items", Page[ItemReply], action=Action.SEE_ITEMS)
def item_list(request: ApiRequest, campaign: str, asked: Query[ItemQuery]) -> Any:
    """List items. Gold items are listed only for people who see answers."""
    rows = _items(request, ItemFilter(split=asked.split, state=asked.state, batch=asked.batch))
    if asked.external_id:
        rows = rows.filter(external_id=asked.external_id)
    return page_of(request, rows, asked)


@operation(router, "GET", "/campaigns/{campaign}/items/{int:item_id}", ItemReply, action=Action.SEE_ITEMS)
def item_read(request: ApiRequest, campaign: str, item_id: int, asked: Query[FieldsQuery]) -> Item:
    """Return an item."""
    return item_of(request, item_id)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/items/{int:item_id}/retire",
    ItemReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def item_end(request: ApiRequest, campaign: str, item_id: int, sent: RetireSent) -> Item:
    """Retire a broken item: it's no longer assigned, and what was submitted is kept."""
    found = item_of(request, item_id)
    done = item_retire(item=found, reason=sent.reason, actor_id=request.user.surrogate_id, now=timezone.now())
    found.refresh_from_db()
    if not done and found.state != "retired":
        raise Refused(409, "split_sealed", "Items of a sealed split can't be retired.")
    return found


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/items/{int:item_id}/experts",
    ItemReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def item_ask(request: ApiRequest, campaign: str, item_id: int, sent: ExpertsSent) -> Item:
    """Send an item to experts. Each first judges it alone. Nothing changes if they have it already."""
    found, policy = item_of(request, item_id), policy_current(request.campaign)
    experts = sent.experts or (policy[1].experts if policy else 1)
    case_ask(
        item=found,
        because=CaseReason.MANAGER,
        experts=experts,
        actor_id=request.user.surrogate_id,
        now=timezone.now(),
    )
    return found


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/items:extend",
    JobReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
    status=202,
)
def item_extend(request: ApiRequest, campaign: str, sent: ExtendSent) -> Job:
    """Request more annotations for a seeded sample of a split, for example 25 for a study."""
    cleaned = checked(ExtendForm(request.campaign, sent.dict()))
    payload = ExtendPayload(
        campaign=str(request.campaign.pk),
        split=cleaned["split"].name,
        n=cleaned["n"],
        sample=cleaned["sample"],
        seed=cleaned["seed"],
    )
    return job_queued(request, "annotation.extend", payload)


@operation(router, "POST", "/campaigns/{campaign}/pilot", PilotReply, action=Action.MANAGE, scope=TokenScope.MANAGE)
def pilot_new(request: ApiRequest, campaign: str, sent: PilotSent) -> Any:
    """Draw imported items into a pilot, where several colleagues annotate each item."""
    cleaned = checked(PilotForm(sent.dict()))
    actor_id, now = request.user.surrogate_id, timezone.now()
    return {"drawn": pilot_draw(campaign=request.campaign, actor_id=actor_id, now=now, **cleaned)}


@operation(router, "GET", "/campaigns/{campaign}/batches", Page[BatchReply], action=Action.SEE_CAMPAIGN)
def batch_list(request: ApiRequest, campaign: str, asked: Query[PageQuery]) -> Any:
    """List the batches of a campaign. Gold batches are listed only for people who see answers."""
    rows = request.campaign.batches.all()
    if not can(request.user, Action.SEE_ANSWERS, request.campaign.pk):
        rows = rows.exclude(purpose="gold")
    return page_of(request, rows, asked)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/batches/{int:ordinal}/launch",
    JobReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
    status=202,
)
def batch_start(request: ApiRequest, campaign: str, ordinal: int) -> Job:
    """Launch a batch, and open the campaign if it is a draft, paused or closed."""
    actor_id, now = request.user.surrogate_id, timezone.now()
    job = launch_request(batch=_batch(request, ordinal), actor_id=actor_id, now=now)
    campaign_move(campaign=request.campaign, to=CampaignState.OPEN, actor_id=actor_id, now=now)
    return job


@operation(
    router,
    "PUT",
    "/campaigns/{campaign}/batches/{int:ordinal}/schedule",
    BatchReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def batch_plan(request: ApiRequest, campaign: str, ordinal: int, sent: ScheduleSent) -> Batch:
    """Schedule the launch of a batch that isn't launched yet."""
    found = _batch(request, ordinal)
    if sent.opens_at is not None and sent.opens_at.tzinfo is None:
        raise Refused(422, "invalid", "opens_at: state the time zone, for example 2026-12-01T08:00:00Z.")
    scheduled = batch_schedule(
        batch=found, opens_at=sent.opens_at, actor_id=request.user.surrogate_id, now=timezone.now()
    )
    if not scheduled:
        raise Refused(409, "batch_launched", "This batch was launched already.")
    found.refresh_from_db()
    return found
