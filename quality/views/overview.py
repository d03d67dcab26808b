"""How the quality of a campaign stands."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from accounts.permissions import Action
from annotation.tasktypes.registry import pages_of
from annotation.views.access import campaign_for
from quality.models import QualitySnapshot
from quality.selectors.people import names_of
from quality.services.numbers import quality_numbers_request


@login_required
@require_GET
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    """Show how it stands, from numbers that a job computed."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    quality_numbers_request(campaign=campaign, now=timezone.now())
    snapshot = QualitySnapshot.objects.filter(campaign=campaign).first()
    context: dict[str, Any] = {"campaign": campaign, "snapshot": snapshot}
    if snapshot is not None:
        people = snapshot.data.get("people", [])[:200]
        names = {str(key): name for key, name in names_of([row["surrogate_id"] for row in people]).items()}
        measures = pages_of(campaign.task_type).measures
        context |= snapshot.data | {
            "people": [{**row, "name": names.get(row["surrogate_id"], "")} for row in people],
            "agreement": [
                {**row, "name": measures.get(row["key"], row["key"])} for row in snapshot.data.get("agreement", [])
            ],
        }
    return render(request, "quality/overview.html", context)
