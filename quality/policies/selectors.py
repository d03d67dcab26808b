"""Queries for policies."""

from uuid import UUID

from annotation.models import Campaign
from database.statements import Statement
from quality.models import PolicyVersion
from quality.policies.policy import Policy, policy_from


def policy_current(campaign: Campaign) -> tuple[PolicyVersion, Policy] | None:
    """Return the version in force with its row, or None if the campaign has no quality process."""
    row = _CURRENT.first(campaign.pk)
    return (row, policy_from(row.data)) if row else None


_CURRENT = Statement(lambda campaign: PolicyVersion.objects.filter(campaign_id=campaign).order_by("-version")[:1], UUID)
