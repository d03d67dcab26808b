"""Queries for policies."""

from annotation.models import Campaign
from quality.models import PolicyVersion
from quality.policies.policy import Policy, policy_from


def policy_current(campaign: Campaign) -> tuple[PolicyVersion, Policy] | None:
    """Return the version in force with its row, or None if the campaign has no quality process."""
    row = PolicyVersion.objects.filter(campaign=campaign).order_by("-version").first()
    return (row, policy_from(row.data)) if row else None
