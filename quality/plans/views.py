"""A campaign's forecast, and beside it the same numbers of the campaign so far."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.permissions import Action, signed_in
from annotation.access import campaign_for
from annotation.models import Campaign
from annotation.tasktypes.base import Voted
from annotation.tasktypes.registry import TASK_TYPES
from measures.charts import kinds
from measures.charts.kinds import Spread
from measures.charts.svg import Chart, in_page
from quality.models import CampaignPlan, QualitySnapshot, Rule
from quality.plans.forms import PlanForm
from quality.plans.services import plan_request
from quality.plans.setting import PlanError
from quality.plans.words import TITLES, span, written
from web.error_texts import error_text

MOST_COUNTED = 10_000  # items of a campaign that the form proposes


@login_required
@require_http_methods(["GET", "POST"])
def plan(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the last forecast beside the campaign so far; POST asks for another one."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    is_voted = isinstance(TASK_TYPES[campaign.task_type], Voted)
    last = CampaignPlan.objects.filter(campaign=campaign).order_by("-pk").first()
    form = PlanForm(request.POST or None, initial=_first(campaign, last))
    if request.method == "POST" and is_voted and form.is_valid():
        actor_id, now = signed_in(request).surrogate_id, timezone.now()
        try:
            job = plan_request(campaign=campaign, asked=form.asked(), actor_id=actor_id, now=now)
            return redirect("job", job_id=job.pk)
        except PlanError as error:
            form.add_error(None, error_text(error))
    context: dict[str, Any] = {"campaign": campaign, "form": form, "is_voted": is_voted, "last": last}
    if last is not None:
        context |= {"names": last.data["names"], "rows": _rows(last, came_of(campaign)), "chart": _chart(last)}
    return render(request, "quality/plans/plan.html", context)


def _first(campaign: Campaign, last: CampaignPlan | None) -> dict[str, Any]:
    """Return the initial values of the form: those of the last plan, else those of the campaign."""
    if last is not None:
        data = last.data
        return {**data["setting"], "no_majority": data["crowd"].get("no_majority"), "seed": data["seed"]}
    items = len(campaign.items.values_list("pk", flat=True)[:MOST_COUNTED])
    return {"items": items or None, "votes": max(campaign.splits.values_list("n", flat=True), default=3)}


def came_of(campaign: Campaign) -> dict[str, float]:
    """Return the campaign's numbers so far that have the same names as a plan's."""
    data = QualitySnapshot.objects.filter(campaign=campaign).values_list("data", flat=True).first() or {}
    summary = data.get("summary") or {}
    if not summary.get("judgments"):
        return {}
    came = {
        "cents": summary["reward_cents"] + summary["bonus_cents"] + summary["fee_cents"],
        "expert_cases": summary["expert_cases"],
        "judgments": summary["judgments"],
        "excluded": summary["excluded_paid"] + summary["refused"],
        "suspended": summary["suspended"],
        "gold_checks": summary["gold_checks"],
    }
    first, second = summary["rules"].get(Rule.MAJORITY, 0), summary["no_agreement_first"]
    if first:  # elsewhere votes are not decided by the majority of a first round
        came["no_majority"] = second / (first + second)
    measured = [audit["share"] for audit in data.get("audits", []) if "share" in audit and not audit["calibrates"]]
    if measured:  # the latest is first
        came["label_error"] = measured[0]
    return came


def _rows(last: CampaignPlan, came: dict[str, float]) -> list[tuple[Any, list[str], str]]:
    plans = [last.data["plans"][name] for name in last.data["names"]]
    return [
        (title, [span(name, one[name]) for one in plans], written(name, came[name]) if name in came else "")
        for name, title in TITLES.items()
    ]


def _chart(last: CampaignPlan) -> Any:
    """Return a chart of the expected wrong labels by policy."""
    plans = {name: last.data["plans"][name] for name in last.data["names"]}
    spreads = [Spread(*(one["label_error"][key] for key in ("value", "low", "high"))) for one in plans.values()]
    text = "; ".join(
        _("%(policy)s: %(share)s wrong labels for %(cost)s")
        % {
            "policy": name,
            "share": written("label_error", one["label_error"]["value"]),
            "cost": written("cents", one["cents"]["value"]),
        }
        for name, one in plans.items()
    )
    rows = [(name, one.share, one.low, one.high) for name, one in zip(plans, spreads, strict=True)]
    chart = Chart(
        "plan",
        _("Predicted label error by policy"),
        text,
        (_("Policy"), _("Share"), _("Low"), _("High")),
        rows,
        lambda axes: kinds.bars_with_intervals(
            axes, list(plans), spreads, x=_("Share of wrong labels (bars: the middle 90 percent of simulated runs)")
        ),
        (6.4, 0.9 + 0.5 * len(plans)),
    )
    return {"title": chart.title, "text": text, "svg": mark_safe(in_page(chart))}  # noqa: S308  escaped by matplotlib
