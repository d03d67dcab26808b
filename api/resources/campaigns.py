"""Campaigns: create, read, change, open, pause and close them."""

from datetime import datetime
from typing import Any, Literal

from django.utils import timezone
from ninja import Field, Query, Router

from accounts.models import ConsentText
from accounts.permissions import Action
from accounts.selectors import consent_text_current
from annotation.campaigns.forms import CampaignForm
from annotation.campaigns.services.campaigns import (
    CHANGEABLE,
    NewConsent,
    campaign_change,
    campaign_create,
    campaign_move,
    consent_change,
)
from annotation.campaigns.settings_forms import SettingsForm
from annotation.locks import campaign_lock
from annotation.models import Campaign, CampaignState
from api.http.checks import Reply, Sent, checked
from api.http.etags import etag_of, match_required
from api.http.operations import ApiRequest, operation
from api.http.paging import FieldsQuery, Page, PageQuery, page_of
from api.http.problems import Refused
from api.models import TokenScope
from api.tokens.selectors import campaigns_for

router = Router()


class SplitReply(Reply):
    """A part of the dataset."""

    name: str
    n: int = Field(description="The number of annotations per item.")
    weight: int = Field(description="The share of the items, relative to the other splits.")
    sealed_at: datetime | None


class CampaignReply(Reply):
    """A campaign."""

    slug: str
    title: str
    task_type: str
    state: str
    language: str
    time_zone: str
    group_by: str
    seed: int
    deadline_seconds: int
    quota: int | None
    content_warning: str
    has_training: bool
    is_synthetic: bool
    created_at: datetime
    splits: list[SplitReply]

    @staticmethod
    def resolve_splits(campaign: Campaign) -> Any:
        """Return the splits that items are assigned to."""
        return sorted((one for one in campaign.splits.all() if one.weight), key=lambda one: one.position)


class SplitSent(Sent):
    """A split to create."""

    name: str = Field(max_length=30)
    n: int = Field(ge=1, le=200, description="The number of annotations per item.")
    weight: int = Field(1, ge=0, le=1_000_000, description="The share of the items, relative to the other splits.")


class ConsentSent(Sent):
    """The consent text of a campaign."""

    purpose: str
    recorded: str
    contact: str
    approval_id: str = ""
    tells_behaviour: bool = Field(False, description="Whether annotators' ways of working are compared.")


class CampaignSent(Sent):
    """A campaign to create."""

    title: str
    slug: str = Field("", description="Leave empty to generate it from the title.")
    task_type: str
    language: str = "en"
    time_zone: str = "UTC"
    group_by: str = Field("", description="Which items stay in one split: item, document, or question.")
    seed: int = Field(0, ge=-(2**63), lt=2**63)
    quota: int | None = Field(None, ge=1, le=2**31 - 1)
    content_warning: str = ""
    has_training: bool = False
    deadline_minutes: int = Field(30, ge=1, le=1440)
    splits: list[SplitSent] = Field(min_length=1, max_length=100)
    consent: ConsentSent
    guidelines: str = Field("", max_length=100_000, description="Leave empty for the task type's own guidelines.")


class CampaignChange(Sent):
    """The settings to change; settings that aren't sent stay as they are."""

    title: str | None = None
    content_warning: str | None = None
    deadline_minutes: int | None = Field(None, ge=1, le=1440)
    quota: int | None = Field(None, ge=1, le=2**31 - 1, description="null for no maximum.")
    time_zone: str | None = None


class StateSent(Sent):
    """The state to move a campaign to."""

    state: Literal["open", "paused", "closed"]


class ConsentReply(Reply):
    """The consent text in force."""

    version: int
    purpose: str
    recorded: str
    contact: str
    approval_id: str
    tells_behaviour: bool
    created_at: datetime


def settings_etag(campaign: Campaign) -> str:
    """Return the entity tag of a campaign's settings."""
    return etag_of(campaign.pk, [getattr(campaign, name) for name in CHANGEABLE])


@operation(router, "GET", "/campaigns", Page[CampaignReply], action=None)
def campaign_list(request: ApiRequest, asked: Query[PageQuery]) -> Any:
    """List the campaigns in which you have a role, newest first. Administrators see all campaigns."""
    rows = campaigns_for(request.user).prefetch_related("splits")
    if request.token.campaign_id:
        rows = rows.filter(pk=request.token.campaign_id)
    return page_of(request, rows, asked, by="created_at", newest_first=True)


@operation(
    router, "POST", "/campaigns", CampaignReply, action=Action.CREATE_CAMPAIGN, scope=TokenScope.MANAGE, status=201
)
def campaign_new(request: ApiRequest, sent: CampaignSent) -> Campaign:
    """Create a campaign. Only administrators can."""
    data = sent.dict()
    consent, guidelines = NewConsent(**data.pop("consent")), data.pop("guidelines")
    data["splits"] = "\n".join(f"{one['name']} {one['n']} {one['weight']}" for one in data["splits"])
    cleaned = checked(CampaignForm({**data, **sent.consent.dict()}))
    for name in ("purpose", "recorded", "contact", "approval_id", "tells_behaviour"):
        del cleaned[name]
    made = campaign_create(
        consent=consent, created_by=request.user, now=timezone.now(), guidelines=guidelines, **cleaned
    )
    request.answer_headers["Location"] = f"/api/v1/campaigns/{made.slug}"
    request.answer_headers["ETag"] = settings_etag(made)
    return made


@operation(router, "GET", "/campaigns/{campaign}", CampaignReply, action=Action.SEE_CAMPAIGN)
def campaign_read(request: ApiRequest, campaign: str, asked: Query[FieldsQuery]) -> Campaign:
    """Return a campaign with its settings."""
    request.answer_headers["ETag"] = settings_etag(request.campaign)
    return request.campaign


@operation(
    router, "PATCH", "/campaigns/{campaign}", CampaignReply, action=Action.MANAGE, scope=TokenScope.MANAGE, matches=True
)
def campaign_settings(request: ApiRequest, campaign: str, sent: CampaignChange) -> Campaign:
    """Change settings that aren't locked. Send the settings' ETag as If-Match."""
    campaign_lock(request.campaign)
    held = Campaign.objects.get(pk=request.campaign.pk)
    match_required(request, settings_etag(held))
    changes = sent.dict(exclude_unset=True)
    now_set = {name: getattr(held, name) for name in CHANGEABLE} | {
        "deadline_minutes": max(1, held.deadline_seconds // 60)
    }
    cleaned = checked(SettingsForm({**now_set, **changes}))
    names = ["deadline_seconds" if name == "deadline_minutes" else name for name in changes]
    campaign_change(
        campaign=held,
        changes={name: cleaned[name] for name in names},
        actor_id=request.user.surrogate_id,
        now=timezone.now(),
    )
    held.refresh_from_db()
    request.answer_headers["ETag"] = settings_etag(held)
    return held


@operation(router, "POST", "/campaigns/{campaign}/state", CampaignReply, action=Action.MANAGE, scope=TokenScope.MANAGE)
def campaign_state(request: ApiRequest, campaign: str, sent: StateSent) -> Campaign:
    """Open, pause or close a campaign. Moving it to its current state changes nothing."""
    to, held = CampaignState(sent.state), request.campaign
    moved = campaign_move(campaign=held, to=to, actor_id=request.user.surrogate_id, now=timezone.now())
    held.refresh_from_db()
    if not moved and held.state != to:
        raise Refused(409, "campaign_state", f"A campaign that is {held.state} can't be {to.label.lower()}.")
    return held


@operation(router, "GET", "/campaigns/{campaign}/consent", ConsentReply, action=Action.MANAGE)
def consent_read(request: ApiRequest, campaign: str, asked: Query[FieldsQuery]) -> Any:
    """Return the consent text in force."""
    return _consent(request)


def _consent(request: ApiRequest) -> ConsentText:
    text = consent_text_current(request.campaign.pk)
    if text is None:
        raise Refused(404, "not_found", "This campaign has no consent text.")
    request.answer_headers["ETag"] = etag_of(str(request.campaign.pk), text.version)
    return text


@operation(
    router,
    "PUT",
    "/campaigns/{campaign}/consent",
    ConsentReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
    matches=True,
)
def consent_publish(request: ApiRequest, campaign: str, sent: ConsentSent) -> Any:
    """Publish a new consent text: annotators must agree to it before their next item. Send its ETag as If-Match."""
    campaign_lock(request.campaign)
    text = consent_text_current(request.campaign.pk)
    match_required(request, etag_of(str(request.campaign.pk), text.version if text else 0))
    consent = NewConsent(**sent.dict())
    consent_change(campaign=request.campaign, consent=consent, actor_id=request.user.surrogate_id, now=timezone.now())
    return _consent(request)
