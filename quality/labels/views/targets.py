"""The page of a campaign's target: progress, next purchases, and estimated costs for other campaigns."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from accounts.permissions import Action
from annotation.access import campaign_for
from annotation.tasktypes.base import Voted
from annotation.tasktypes.registry import TASK_TYPES
from measures.targets import Calibration, Point, Target, belief_before, forecast
from quality.labels.charts import TARGET
from quality.labels.forms import BeforeForm
from quality.models import TargetSnapshot
from quality.policies.policy import Policy, Process
from quality.policies.selectors import policy_current

LAST_WAVES, MOST_ROWS = 20, 12  # that are shown


@login_required
@require_GET
def target(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the distance of a campaign from its target, and a forecast for another campaign size.

    The numbers were computed by a job.
    """
    campaign = campaign_for(request, slug, Action.MANAGE)
    task_type = TASK_TYPES[campaign.task_type]
    context: dict[str, Any] = {"campaign": campaign, "is_voted": isinstance(task_type, Voted)}
    if isinstance(task_type, Voted):
        found = policy_current(campaign)
        policy = found[1] if found else Policy()
        before = BeforeForm(request.GET or None)
        snapshot = TargetSnapshot.objects.filter(campaign=campaign).first()
        context |= {
            "policy": policy,
            "is_aimed_at": policy.process is Process.TARGET,
            "charts": TARGET,
            "snapshot": snapshot,
            "waves": snapshot.data.get("waves", [])[: -LAST_WAVES - 1 : -1] if snapshot else [],
            "before": before,
            "points": _points(before, policy.target, len(task_type.labels)),
        }
    return render(request, "quality/labels/target.html", context)


def _points(before: BeforeForm, target: Target, labels: int) -> list[Point]:
    """Return some points of the forecast for another campaign size; none if no size was submitted."""
    if not before.is_bound or not before.is_valid():
        return []
    given = before.cleaned_data
    belief = belief_before(given["items"], labels, max(given["accuracy"], 1 / labels + 0.01))
    points = forecast(belief, target, Calibration(), fewest=given["fewest"], vote_cents=given["vote_cents"])
    step = -(-len(points) // MOST_ROWS)
    return [*points[:-1:step], points[-1]]
