"""The page of a campaign in which systems are additional annotators: uploads, draws for experts, and comparisons."""

from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.files.storage import default_storage
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.parameters import whole_number
from accounts.permissions import Action, signed_in
from annotation.campaigns.selectors.sealing import sealed_names
from annotation.models import Campaign
from annotation.tasktypes.registry import pages_of
from evaluation.models import PredictedSystem
from evaluation.payloads import PredictionsPayload
from evaluation.predicted.forms import PredictionsForm, PredictionsSampleForm
from evaluation.predicted.services import MOST_SYSTEMS, predictions_remove, sample_request
from evaluation.system_scores import scores_request, scores_shown
from jobs.services import job_enqueue

SAMPLE = """{"predictions": [
  {"example_id": 797803103760793766,
   "long_answer": {"start_byte": 10, "end_byte": 90, "start_token": 3, "end_token": 20}, "long_answer_score": 2.5,
   "short_answers": [], "short_answers_score": 0.1, "yes_no_answer": "NONE"}]}
"""


def predicted_systems(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show how systems compare with annotators; POST adds or removes a system, or sends answers to experts."""
    is_manager = Action.MANAGE in request.campaign_actions  # type: ignore[attr-defined]
    if request.method == "POST" and not is_manager:
        raise PermissionDenied
    asked = request.POST.get("do", "add")
    sent = request.POST or None
    form = PredictionsForm(sent if asked == "add" else None, request.FILES or None)
    snapshot = scores_shown(campaign)
    left = snapshot.data.get("left") if snapshot else None
    draw = PredictionsSampleForm(campaign, left, sent if asked == "draw" else None)
    if asked == "remove":
        return _removed(request, campaign)
    if form.is_valid():
        return _uploaded(request, campaign, form.cleaned_data)
    if draw.is_valid():
        return _drawn(request, campaign, draw.cleaned_data)
    job = scores_request(campaign=campaign, now=timezone.now())
    systems = list(PredictedSystem.objects.filter(campaign=campaign).order_by("name"))
    context = {
        "campaign": campaign,
        "form": form,
        "draw": draw if systems else None,
        "is_manager": is_manager,
        "has_room": len(systems) < MOST_SYSTEMS,
        "sample": SAMPLE,
        "snapshot": snapshot,
        "kinds": _named(campaign, snapshot.data if snapshot else {}),
        "systems": systems,
        "is_computing": job is not None,
        "sealed": sealed_names(campaign),
    }
    return render(request, "evaluation/predicted.html", context)


def _named(campaign: Campaign, data: dict[str, Any]) -> list[tuple[Any, dict[str, Any]]]:
    """Return the comparisons with the name of each kind of answer."""
    names = pages_of(campaign.task_type).part_names
    return [(names.get(kind, kind), found) for kind, found in data.get("kinds", {}).items()]


def _removed(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    found = get_object_or_404(PredictedSystem, campaign=campaign, pk=whole_number(request.POST.get("system")))
    predictions_remove(system=found, actor_id=signed_in(request).surrogate_id, now=timezone.now())
    messages.success(request, _("%(name)s was removed.") % {"name": found.name})
    return redirect("systems", slug=campaign.slug)


def _uploaded(request: HttpRequest, campaign: Campaign, asked: dict[str, Any]) -> HttpResponse:
    upload = asked["file"]
    job = job_enqueue(
        kind="evaluation.predictions",
        payload=PredictionsPayload(
            campaign=str(campaign.pk),
            file=default_storage.save(f"{uuid4()}", upload),
            name=upload.name,
            system=asked["system"],
            least_long=asked["least_long"],
            least_short=asked["least_short"],
        ),
        now=timezone.now(),
        scope_id=campaign.pk,
        requested_by_id=signed_in(request).surrogate_id,
    )
    return redirect("job", job_id=job.pk)


def _drawn(request: HttpRequest, campaign: Campaign, asked: dict[str, Any]) -> HttpResponse:
    job = sample_request(
        campaign=campaign,
        count=asked["count"],
        experts=asked["experts"],
        actor_id=signed_in(request).surrogate_id,
        now=timezone.now(),
    )
    return redirect("job", job_id=job.pk)
