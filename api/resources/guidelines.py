"""The guidelines that annotators read: each change creates a version."""

from datetime import datetime
from typing import Any

from django.utils import timezone
from ninja import Field, Query, Router

from accounts.permissions import Action
from annotation.campaigns.forms import MOST_OF_GUIDELINES
from annotation.campaigns.selectors.campaigns import guideline_current
from annotation.campaigns.services.campaigns import guideline_publish
from annotation.locks import campaign_lock
from annotation.models import Guideline
from api.http.checks import Reply, Sent
from api.http.etags import etag_of, match_required
from api.http.operations import ApiRequest, operation
from api.http.paging import FieldsQuery, Page, PageQuery, page_of
from api.models import TokenScope

router = Router()


class GuidelineReply(Reply):
    """A version of the guidelines."""

    version: int
    body: str
    note: str
    created_at: datetime


class GuidelineSent(Sent):
    """A new version of the guidelines."""

    body: str = Field(min_length=1, max_length=MOST_OF_GUIDELINES, description="Markdown.")
    note: str = Field("", max_length=500, description="What changed, for annotators.")


def _etag(guideline: Guideline) -> str:
    return etag_of(str(guideline.campaign_id), guideline.version)


@operation(router, "GET", "/campaigns/{campaign}/guidelines", GuidelineReply, action=Action.SEE_CAMPAIGN)
def guideline_read(request: ApiRequest, campaign: str, asked: Query[FieldsQuery]) -> Guideline:
    """Return the guidelines in force."""
    found = guideline_current(request.campaign)
    request.answer_headers["ETag"] = _etag(found)
    return found


@operation(router, "GET", "/campaigns/{campaign}/guidelines/versions", Page[GuidelineReply], action=Action.SEE_CAMPAIGN)
def guideline_versions(request: ApiRequest, campaign: str, asked: Query[PageQuery]) -> Any:
    """List all versions of the guidelines, oldest first."""
    return page_of(request, request.campaign.guidelines.all(), asked)


@operation(
    router,
    "PUT",
    "/campaigns/{campaign}/guidelines",
    GuidelineReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
    matches=True,
)
def guideline_change(request: ApiRequest, campaign: str, sent: GuidelineSent) -> Guideline:
    """Publish a new version. Send the ETag of the version that you changed as If-Match."""
    campaign_lock(request.campaign)
    match_required(request, _etag(guideline_current(request.campaign)))
    made = guideline_publish(
        campaign=request.campaign,
        body=sent.body,
        note=sent.note,
        actor_id=request.user.surrogate_id,
        now=timezone.now(),
    )
    request.answer_headers["ETag"] = _etag(made)
    return made
