"""Jobs and periodic tasks for labels: audits and waves."""

from typing import Any
from uuid import UUID

from annotation.models import Campaign
from jobs.payloads import CampaignPayload
from jobs.registry import JobKind, Lane
from jobs.work import Work
from quality.labels.services.audits import audit_draw, audit_recall
from quality.labels.services.waves import waves_due, waves_look
from quality.models import Audit
from quality.payloads import AuditDrawPayload, AuditPayload


def audit(work: Work) -> dict[str, Any]:
    """Draw an audit of the labels."""
    asked = work.payload_as(AuditDrawPayload)
    campaign = Campaign.objects.get(pk=UUID(asked["campaign"]))
    return audit_draw(work=work, campaign=campaign, count=asked["count"], twice=asked["twice"], seed=asked["seed"])


def audit_recalled(work: Work) -> dict[str, Any]:
    """Recall the items of a canceled audit from the experts."""
    return audit_recall(
        work=work, audit=Audit.objects.select_related("campaign").get(pk=work.payload_as(AuditPayload)["audit"])
    )


def waves(work: Work) -> dict[str, Any]:
    """Check the labels of a campaign with a target, and buy votes for doubtful ones."""
    return waves_look(work=work, campaign=Campaign.objects.get(pk=UUID(work.payload_as(CampaignPayload)["campaign"])))


JOBS = [
    JobKind("quality.audit", audit, Lane.BULK),
    JobKind("quality.audit_recall", audit_recalled, Lane.UPKEEP),
    JobKind("quality.waves", waves, Lane.BULK),
]
SWEEPS = [waves_due]
