"""The studies of the Natural Questions paper, over what a campaign collected."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from accounts.permissions import Action
from annotation.models import Campaign
from annotation.tasktypes.base import Extractive
from annotation.tasktypes.registry import TASK_TYPES, pages_of
from annotation.views.access import campaign_for
from quality.charts.studies import STUDIES
from quality.models import StudySnapshot
from quality.services.studies import studies_request


@login_required
@require_GET
def studies(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the studies, from numbers that a job computed."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    context: dict[str, Any] = {"campaign": campaign, "charts": list(STUDIES), "is_studied": _is_studied(campaign)}
    if context["is_studied"]:
        studies_request(campaign=campaign, now=timezone.now())
        snapshot = StudySnapshot.objects.filter(campaign=campaign).first()
        context |= {"snapshot": snapshot, **_shown(campaign, snapshot.data if snapshot else {})}
    return render(request, "quality/studies.html", context)


@login_required
@require_GET
def studies_json(request: HttpRequest, slug: str) -> HttpResponse:
    """Send the numbers of the studies."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    data = StudySnapshot.objects.filter(campaign=campaign).values_list("data", flat=True).first() or {}
    disposition = f'attachment; filename="{slug}-studies.json"'
    return JsonResponse(data, headers={"Content-Disposition": disposition})


def _is_studied(campaign: Campaign) -> bool:
    return isinstance(TASK_TYPES[campaign.task_type], Extractive)


def _shown(campaign: Campaign, data: dict[str, Any]) -> dict[str, Any]:
    """Return tables by kind of answer: what experts found (Table 2), and what people reach (Table 3)."""
    pages = pages_of(campaign.task_type)
    precision, bounds = data.get("precision", {}), data.get("bounds", {})
    names = pages.part_names
    return {
        "obstacles": {key: one["why"] for key, one in data.items() if isinstance(one, dict) and "why" in one},
        "grades": [name for _grade, name, _description in pages.grades],
        "precision": [(names.get(kind, kind), one) for kind, one in precision.items() if kind != "why" and one["n"]],
        "bounds": [(names.get(kind, kind), one) for kind, one in bounds.items() if kind != "why"],
    }
