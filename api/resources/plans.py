"""Plans: forecasts of a campaign's cost and quality under several policies."""

from datetime import datetime
from typing import Any

from django.utils import timezone
from ninja import Field, Query, Router

from accounts.permissions import Action
from api.http.checks import Reply, Sent, checked
from api.http.operations import ApiRequest, operation
from api.http.paging import Page, PageQuery, page_of
from api.models import TokenScope
from api.resources.jobs import JobReply, job_named
from jobs.models import Job
from quality.models import CampaignPlan
from quality.plans.asking import campaign_asked
from quality.plans.forms import PlanForm
from quality.plans.services import plan_request

router = Router()


class PlanReply(Reply):
    """A forecast. Each number has its mean (`value`) and the bounds of the middle 90% of simulated runs."""

    id: int = Field(validation_alias="pk")
    made_at: datetime
    plans: dict[str, dict[str, Any]] = Field(description="The numbers of each policy.")
    policies: dict[str, Any]
    setting: dict[str, Any] = Field(description="What was decided or assumed.")
    crowd: dict[str, Any] = Field(description="The rates that were assumed, or the file that was used.")
    pilot: dict[str, Any] | None = Field(description="The numbers that a pilot predicts, if one was used.")
    seed: int
    runs: int


class PlanSent(Sent):
    """The settings of a forecast, as on the page *Plan*."""

    items: int
    votes: int = 3
    people: int = 60
    reward_cents: int = 5
    answers_a_day: float = 60.0
    no_majority: float = Field(0.13, description="The share of items without a majority among careful annotators.")
    spam: float = Field(0.1, description="The share of the work by careless annotators.")
    error: float = Field(0.1, description="The error target for the comparison.")
    budget: float = Field(200.0, description="The budget for extra votes in the comparison, in dollars.")
    seed: int = 1


@operation(router, "GET", "/campaigns/{campaign}/plans", Page[PlanReply], action=Action.MANAGE)
def plan_list(request: ApiRequest, campaign: str, asked: Query[PageQuery]) -> Any:
    """List the forecasts of a campaign, newest first."""
    page = page_of(request, CampaignPlan.objects.filter(campaign=request.campaign), asked, newest_first=True)
    page["results"] = [{**row.data, "pk": row.pk, "made_at": row.made_at} for row in page["results"]]
    return page


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/plans",
    JobReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
    status=202,
)
def plan_new(request: ApiRequest, campaign: str, sent: PlanSent) -> Job:
    """Forecast the campaign under its own policy, the other processes, and an error target. A job computes it."""
    campaign_asked(request.campaign)  # refuses campaigns without votes
    form = PlanForm(sent.dict())
    checked(form)
    actor_id = request.user.surrogate_id
    return job_named(
        request, plan_request(campaign=request.campaign, asked=form.asked(), actor_id=actor_id, now=timezone.now())
    )
