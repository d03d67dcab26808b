"""The quality overview of a campaign."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from accounts.permissions import Action
from annotation.access import campaign_for
from annotation.campaigns.services.numbers import numbers_request
from annotation.models import Campaign, Snapshot
from annotation.tasktypes.registry import pages_of
from quality.dashboard.charts.campaign import CHARTS, outlook
from quality.dashboard.selectors.agreement import agreement_shown
from quality.dashboard.selectors.review_queue import WAITING, waiting_name
from quality.dashboard.services import quality_numbers_request
from quality.models import QualitySnapshot
from quality.people.selectors.names import names_of

MOST_OUTSIDE = 50


@login_required
@require_GET
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a campaign's quality, from numbers that a job computed."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    numbers_request(campaign=campaign, now=timezone.now())
    job = quality_numbers_request(campaign=campaign, now=timezone.now())
    snapshot = QualitySnapshot.objects.filter(campaign=campaign).first()
    context: dict[str, Any] = {
        "campaign": campaign,
        "snapshot": snapshot,
        "is_recalculating": job is not None,
        "charts": CHARTS,
    }
    if snapshot is not None:
        shown = snapshot.data.get("outside", [])[:MOST_OUTSIDE]
        names = {str(key): name for key, name in names_of(UUID(key) for key in shown).items()}
        outside = [(key, names[key]) for key in shown]
        work = Snapshot.objects.filter(campaign=campaign).values_list("data", flat=True).first() or {}
        context |= snapshot.data | {
            "outside": outside,
            "slots": work.get("slots", {}),
            "forecast": _forecast(work),
            "waiting": [
                (waiting_name(what, count), count)
                for what, count in snapshot.data.get("waiting", {}).items()
                if what in WAITING
            ],
            "agreement": agreement_shown(campaign, snapshot.data),
            "follow_ups": [(_outcome_name(campaign, row), row) for row in snapshot.data.get("follow_ups", [])],
        }
    part = "quality/dashboard/_numbers.html" if request.headers.get("HX-Request") else "quality/dashboard/overview.html"
    return render(request, part, context)


def _outcome_name(campaign: Campaign, row: dict[str, Any]) -> str:
    return str(pages_of(campaign.task_type).outcome_names[row["asks"], row["outcome"]])


def _forecast(work: dict[str, Any]) -> dict[str, Any] | None:
    """Return the dates by which launched work is expected to be done."""
    today = timezone.now().date()
    found = outlook(work, today)
    if found is None:
        return None
    return {name: today + timedelta(days=getattr(found, name)) for name in ("days", "low", "high")}
