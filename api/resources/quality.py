"""Quality: policies, audits, sealed splits, and the numbers of a campaign."""

from datetime import datetime
from typing import Any

from django.utils import timezone
from ninja import Field, Query, Router

from accounts.permissions import Action
from annotation.campaigns.services.numbers import numbers_request
from annotation.locks import campaign_lock
from annotation.models import Snapshot
from api.http.checks import Reply, Sent, checked
from api.http.etags import etag_of, match_required
from api.http.operations import ApiRequest, operation
from api.http.paging import FieldsQuery, Page, PageQuery, page_of
from api.http.problems import Refused, not_found
from api.http.rows import row_of
from api.models import TokenScope
from api.resources.jobs import JobReply, job_queued
from jobs.models import Job
from quality.dashboard.services import quality_numbers_request
from quality.labels.forms import AuditForm
from quality.labels.services.audits import audit_call_off
from quality.labels.services.sealing import split_seal
from quality.labels.views.audits import audit_obstacle
from quality.models import Audit, PolicyVersion, QualitySnapshot
from quality.payloads import AuditDrawPayload
from quality.policies.policy import policy_from
from quality.policies.services import policy_ensure, policy_publish

router = Router()


class NumbersReply(Reply):
    """Numbers that a job computed. `is_current` is false while a newer computation is running."""

    taken_at: datetime | None
    is_current: bool
    data: dict[str, Any]


class PolicyReply(Reply):
    """A version of the policy."""

    version: int
    policy: dict[str, Any] = Field(validation_alias="data")
    created_at: datetime


class PolicySent(Sent):
    """The settings to change; settings that aren't sent stay as they are."""

    policy: dict[str, Any]


class AuditReply(Reply):
    """A label audit. Its results are in `quality`, under `audits`."""

    id: int = Field(validation_alias="pk")
    seed: int
    drawn_at: datetime
    called_off_at: datetime | None


class AuditSent(Sent):
    """The size of an audit."""

    count: int = 400
    twice: float = 0.2


class SealReply(Reply):
    """A sealed split."""

    name: str
    n: int
    sealed_at: datetime | None


def numbers_shown(row: Any, job: Job | None) -> dict[str, Any]:
    """Return the numbers that a job computed, and whether a newer computation is running."""
    return {"taken_at": row.taken_at if row else None, "is_current": job is None, "data": row.data if row else {}}


@operation(router, "GET", "/campaigns/{campaign}/progress", NumbersReply, action=Action.SEE_CAMPAIGN)
def progress_read(request: ApiRequest, campaign: str, asked: Query[FieldsQuery]) -> Any:
    """Return the progress of a campaign: slots, splits, paths and days."""
    job = numbers_request(campaign=request.campaign, now=timezone.now())
    found = numbers_shown(Snapshot.objects.filter(campaign=request.campaign).first(), job)
    found["data"].pop("people", None)  # see `people`, for managers
    return found


@operation(router, "GET", "/campaigns/{campaign}/quality", NumbersReply, action=Action.MANAGE)
def quality_read(request: ApiRequest, campaign: str, asked: Query[FieldsQuery]) -> Any:
    """Return the quality numbers: agreement, gold checks, labels, audits, pay and decisions to make."""
    job = quality_numbers_request(campaign=request.campaign, now=timezone.now())
    return numbers_shown(QualitySnapshot.objects.filter(campaign=request.campaign).first(), job)


def _policy_etag(row: PolicyVersion) -> str:
    return etag_of(str(row.campaign_id), row.version)


@operation(router, "GET", "/campaigns/{campaign}/policy", PolicyReply, action=Action.MANAGE)
def policy_read(request: ApiRequest, campaign: str, asked: Query[FieldsQuery]) -> PolicyVersion:
    """Return the policy in force."""
    row = PolicyVersion.objects.filter(campaign=request.campaign).order_by("-version").first()
    if row is None:
        raise Refused(404, "not_found", "This campaign has no policy yet.")
    request.answer_headers["ETag"] = _policy_etag(row)
    return row


@operation(
    router,
    "PATCH",
    "/campaigns/{campaign}/policy",
    PolicyReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
    matches=True,
)
def policy_change(request: ApiRequest, campaign: str, sent: PolicySent) -> PolicyVersion:
    """Publish a new version of the policy, which later labels name. Send the ETag of the current one as If-Match."""
    campaign_lock(request.campaign)
    row, _current = policy_ensure(campaign=request.campaign, now=timezone.now())
    match_required(request, _policy_etag(row))
    try:
        policy = policy_from({**row.data, **sent.policy})
    except (TypeError, ValueError) as error:
        raise Refused(422, "policy_invalid", f"policy: {error}") from error
    made = policy_publish(
        campaign=request.campaign, policy=policy, actor_id=request.user.surrogate_id, now=timezone.now()
    )
    request.answer_headers["ETag"] = _policy_etag(made)
    return made


@operation(router, "GET", "/campaigns/{campaign}/audits", Page[AuditReply], action=Action.MANAGE)
def audit_list(request: ApiRequest, campaign: str, asked: Query[PageQuery]) -> Any:
    """List label audits."""
    return page_of(request, Audit.objects.filter(campaign=request.campaign), asked)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/audits",
    JobReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
    status=202,
)
def audit_new(request: ApiRequest, campaign: str, sent: AuditSent) -> Job:
    """Start a label audit: a random sample of labels that experts judge blind."""
    if obstacle := audit_obstacle(request.campaign):
        raise Refused(409, "audit_impossible", obstacle)
    cleaned = checked(AuditForm(sent.dict()))
    payload = AuditDrawPayload(
        campaign=str(request.campaign.pk), count=cleaned["count"], twice=cleaned["twice"], seed=None
    )
    return job_queued(request, "quality.audit", payload)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/audits/{int:audit_id}/cancel",
    AuditReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def audit_end(request: ApiRequest, campaign: str, audit_id: int) -> Audit:
    """Cancel a label audit; it stays on record."""
    rows = Audit.objects.filter(campaign=request.campaign)
    found = row_of(rows, pk=audit_id)
    if not audit_call_off(audit=found, actor_id=request.user.surrogate_id, now=timezone.now()):
        raise Refused(409, "audit_over", "This audit has already ended.")
    found.refresh_from_db()
    return found


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/splits/{split}/seal",
    SealReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
)
def split_close(request: ApiRequest, campaign: str, split: str) -> Any:
    """Seal a finished split: from then on its labels are used only for scores. Unsealing is on pages only."""
    splits = request.campaign.splits.select_related("campaign")
    found = next((one for one in splits if one.name == split), None)
    if found is None:
        raise not_found()
    split_seal(split=found, actor_id=request.user.surrogate_id, now=timezone.now())
    return found
