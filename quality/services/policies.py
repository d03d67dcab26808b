"""How policies come about: versions are appended, never changed."""

from datetime import datetime
from uuid import UUID

from accounts.audit import record
from accounts.transactions import durable
from annotation.locks import campaign_lock
from annotation.models import Campaign
from quality.models import PolicyVersion
from quality.rules.policy import Policy
from quality.selectors.policies import policy_current


@durable
def policy_publish(*, campaign: Campaign, policy: Policy, actor_id: UUID | None, now: datetime) -> PolicyVersion:
    """Append a version of a campaign's policy; verdicts from now on name it."""
    campaign_lock(campaign)
    last = PolicyVersion.objects.filter(campaign=campaign).order_by("-version").first()
    row = PolicyVersion.objects.create(
        campaign=campaign, version=last.version + 1 if last else 1, data=policy.as_data(), created_at=now
    )
    record(action="policy_publish", subject=row, now=now, actor_id=actor_id, scope_id=campaign.pk, policy=row.data)
    return row


def policy_ensure(*, campaign: Campaign, now: datetime) -> tuple[PolicyVersion, Policy]:
    """Return the policy in force; a campaign without one gets the default as its first version."""
    return policy_current(campaign) or (
        policy_publish(campaign=campaign, policy=Policy(), actor_id=None, now=now),
        Policy(),
    )
