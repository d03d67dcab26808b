"""Reading campaigns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from accounts.models import Consent, Membership, Role, User
from annotation.campaigns.differences import Part, changed_paragraphs
from annotation.models import Campaign, Guideline, Participation, Withdrawal
from database.statements import Statement

_CURRENT = Statement(lambda campaign: Guideline.objects.filter(campaign_id=campaign).order_by("-version")[:1], UUID)


def guideline_current(campaign: Campaign) -> Guideline:
    """Return the version in force."""
    found: Guideline = _CURRENT.instances(campaign.pk)[0]
    return found


@dataclass(frozen=True, slots=True)
class GuidelineChange:
    """What changed in the guidelines since an annotator last read them, with the authors' comments."""

    version: int
    notes: Sequence[str]
    paragraphs: Sequence[Sequence[Part]]


def _since_read_query(campaign: UUID, surrogate_id: UUID) -> QuerySet[Guideline, Any]:
    read = Participation.objects.filter(campaign_id=campaign, surrogate_id=surrogate_id).values("guideline__version")
    since = Guideline.objects.filter(campaign_id=campaign, version__gte=read[:1]).order_by("version")
    return since.values_list("pk", "version", "note")


_SINCE_READ = Statement(_since_read_query, UUID, UUID)


def guideline_change(campaign: Campaign, surrogate_id: UUID) -> GuidelineChange | None:
    """Return the changes that an annotator hasn't read yet; None if they have read all."""
    found = _SINCE_READ.rows(campaign.pk, surrogate_id)
    if len(found) < 2:
        return None
    bodies = dict(Guideline.objects.filter(pk__in=[found[0][0], found[-1][0]]).values_list("pk", "body"))
    changed = changed_paragraphs(bodies[found[0][0]], bodies[found[-1][0]])
    return GuidelineChange(found[-1][1], [note for _pk, _version, note in found[1:] if note], changed)


def guideline_readers(guideline: Guideline) -> tuple[int, int]:
    """Return how many annotators have read this version of the guidelines, and how many any version."""
    places = Participation.objects.filter(campaign=guideline.campaign_id, guideline__isnull=False)
    found = places.aggregate(read=Count("pk", filter=Q(guideline=guideline)), people=Count("pk"))
    return found["read"], found["people"]


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
    """Return the campaigns that a person consented to but has no role in now: they may still withdraw."""
    own = Consent.objects.filter(text__scope=OuterRef("pk"), surrogate_id=user.surrogate_id, withdrawn_at=None)
    asked = Withdrawal.objects.filter(campaign=OuterRef("pk"), surrogate_id=user.surrogate_id)
    role = Membership.objects.filter(user=user, scope=OuterRef("pk"), role=Role.ANNOTATOR)
    return Campaign.objects.filter(Exists(own) | Exists(asked), ~Exists(role)).order_by("-created_at", "slug")
