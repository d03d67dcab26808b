"""Reading campaigns."""

from uuid import UUID

from django.db.models import QuerySet

from accounts.models import Membership, User
from annotation.models import Campaign, Guideline


def guideline_current(campaign: Campaign) -> Guideline:
    """Return the version in force."""
    return Guideline.objects.filter(campaign=campaign).order_by("-version")[0]


def campaigns_of(user: User) -> list[tuple[Campaign, set[str]]]:
    """Return the campaigns in which a person has a role (an administrator: all), newest first, with the roles."""
    roles: dict[UUID, set[str]] = {}
    for scope_id, role in Membership.objects.filter(user=user).values_list("scope_id", "role"):
        roles.setdefault(scope_id, set()).add(role)
    campaigns: QuerySet[Campaign] = Campaign.objects.order_by("-created_at", "slug")
    if not user.is_admin:
        campaigns = campaigns.filter(pk__in=roles)
    return [(campaign, roles.get(campaign.pk, set())) for campaign in campaigns[:200]]
