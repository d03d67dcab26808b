"""Jobs for cases and opinions of experts."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, Subquery

from accounts.models import Role, User
from annotation.models import Campaign, Notification, NotificationKind
from annotation.notifications.services import DAILY, members, notify_daily
from database.transactions import durable
from jobs.registry import JobKind, Lane
from jobs.work import Work
from quality.experts.selectors import MOST, cases_to_judge
from quality.experts.services.cases import cases_sample
from quality.models import Case, CaseState
from quality.payloads import CasesSamplePayload

CASES_TOLD_WITHIN = timedelta(days=7)  # older ones are on the experts' home page


def sample_cases(work: Work) -> dict[str, Any]:
    """Send a random sample to experts."""
    asked = work.payload_as(CasesSamplePayload)
    campaign = Campaign.objects.get(pk=UUID(asked["campaign"]))
    return cases_sample(
        work=work,
        campaign=campaign,
        count=asked["count"],
        seed=asked["seed"],
        experts=asked["experts"],
        every_answer=asked["every_answer"],
        least=asked.get("least", 1),
    )


def cases_tell(now: datetime) -> None:
    """Email experts about new cases that they can judge: at most one email per day and campaign."""
    newest = Case.objects.filter(campaign=OuterRef("pk"), state=CaseState.OPEN).order_by("-pk").values("opened_at")[:1]
    campaigns = Campaign.objects.annotate(newest=Subquery(newest)).filter(newest__gt=now - CASES_TOLD_WITHIN)
    for campaign in campaigns.order_by("pk"):
        told = Notification.objects.filter(campaign=campaign, kind=NotificationKind.CASES, user=OuterRef("pk"))
        upto = told.filter(Q(created_at__gte=campaign.newest) | Q(created_at__gt=now - DAILY))
        for expert in members(campaign, Role.EXPERT).exclude(Exists(upto)):
            cases = cases_to_judge(campaign=campaign, surrogate_id=expert.surrogate_id)[:MOST].count()
            if cases:
                _tell(campaign, expert, cases, now)


@durable
def _tell(campaign: Campaign, expert: User, cases: int, now: datetime) -> None:
    users = User.objects.filter(pk=expert.pk)
    notify_daily(campaign=campaign, kind=NotificationKind.CASES, users=users, now=now, count=cases)


JOBS = [
    JobKind("quality.sample_cases", sample_cases, Lane.BULK),
]
SWEEPS = [cases_tell]
