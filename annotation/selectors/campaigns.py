"""Reading campaigns."""

from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from accounts.models import Consent, Membership, Role, User
from annotation.models import Campaign, Guideline, Withdrawal


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


def campaigns_worked_in(user: User) -> QuerySet[Campaign]:
    """Return the campaigns that a person agreed to though they no longer have the role: they may still withdraw."""
    own = Consent.objects.filter(text__scope=OuterRef("pk"), surrogate_id=user.surrogate_id, withdrawn_at=None)
    asked = Withdrawal.objects.filter(campaign=OuterRef("pk"), surrogate_id=user.surrogate_id)
    role = Membership.objects.filter(user=user, scope=OuterRef("pk"), role=Role.ANNOTATOR)
    return Campaign.objects.filter(Exists(own) | Exists(asked), ~Exists(role)).order_by("-created_at", "slug")
