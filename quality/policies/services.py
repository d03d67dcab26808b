"""Publishing policies: versions are appended, never changed."""

from datetime import datetime
from uuid import UUID

from django.db.models import F

from accounts.audit import record
from annotation.locks import campaign_lock
from annotation.models import Campaign, Item, Split
from annotation.tasktypes.base import Voted
from annotation.tasktypes.registry import TASK_TYPES
from database.transactions import durable
from quality.models import PolicyVersion
from quality.policies.policy import Policy, PolicyError, Process
from quality.policies.selectors import policy_current


@durable
def policy_publish(*, campaign: Campaign, policy: Policy, actor_id: UUID | None, now: datetime) -> PolicyVersion:
    """Append a version of a campaign's policy; later verdicts name it.

    Raises
    ------
    PolicyError
        The campaign can't buy votes for a target.
    """
    campaign_lock(campaign)
    if policy.process is Process.TARGET:
        _target_check(campaign, policy)
    last = PolicyVersion.objects.filter(campaign=campaign).order_by("-version").first()
    row = PolicyVersion.objects.create(
        campaign=campaign, version=last.version + 1 if last else 1, data=policy.as_data(), created_at=now
    )
    record(action="policy_publish", subject=row, now=now, actor_id=actor_id, scope_id=campaign.pk, policy=row.data)
    return row


def _target_check(campaign: Campaign, policy: Policy) -> None:
    """Refuse a target if the campaign has no votes, or if items are promised more annotations than votes.

    The target's maximum of votes must also be at least the annotations per item of every split.
    """
    if not isinstance(TASK_TYPES[campaign.task_type], Voted):
        raise PolicyError("policy_without_votes")
    if Item.objects.filter(campaign=campaign, n__gt=F("votes")).exists():
        raise PolicyError("policy_promised")
    most = max(Split.objects.filter(campaign=campaign).values_list("n", flat=True), default=0)
    if policy.target.most < most:
        raise PolicyError("policy_most_votes", first=most, most=policy.target.most)


def policy_ensure(*, campaign: Campaign, now: datetime) -> tuple[PolicyVersion, Policy]:
    """Return the policy in force; if there is none, create the default policy as the first version."""
    return policy_current(campaign) or (
        policy_publish(campaign=campaign, policy=Policy(), actor_id=None, now=now),
        Policy(),
    )
