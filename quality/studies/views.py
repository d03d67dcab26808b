"""Pages for the studies of the Natural Questions paper, computed for a campaign."""

from dataclasses import asdict
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from accounts.permissions import Action, can, signed_in
from annotation.access import campaign_for
from annotation.models import Campaign, Item
from annotation.tasktypes.base import Extractive, Pages
from annotation.tasktypes.registry import TASK_TYPES, pages_of
from jobs.models import Job, JobState
from jobs.services import job_enqueue
from quality.dashboard.selectors.agreement import agreement_shown
from quality.models import StudySnapshot
from quality.payloads import StudyPayload
from quality.studies.charts import STUDIES, results_by_kind
from quality.studies.forms import StudyForm
from quality.studies.selectors.designs import StudyDesign, StudyNeeds, obstacles_of
from quality.studies.services import studies_request
from web.error_texts import error_text, keyed_text


@login_required
@require_GET
def studies(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the studies and the agreement, from numbers computed by jobs."""
    campaign = campaign_for(request, slug, Action.SEE_RELEASES)
    context: dict[str, Any] = {
        "campaign": campaign,
        "agreement": agreement_shown(campaign),
        "charts": STUDIES,
        "is_studied": _is_studied(campaign),
        "sees_answers": can(signed_in(request), Action.SEE_ANSWERS, campaign.pk),
    }
    if context["is_studied"]:
        job = studies_request(campaign=campaign, now=timezone.now())
        snapshot = StudySnapshot.objects.filter(campaign=campaign).first()
        context |= {
            "snapshot": snapshot,
            "is_recalculating": job is not None,
            **_shown(campaign, snapshot.data if snapshot else {}),
        }
    return render(request, "quality/studies/studies.html", context)


@login_required
@require_GET
def studies_json(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the numbers of the studies as JSON."""
    campaign = campaign_for(request, slug, Action.SEE_RELEASES)
    data = StudySnapshot.objects.filter(campaign=campaign).values_list("data", flat=True).first() or {}
    disposition = f'attachment; filename="{slug}-studies.json"'
    return JsonResponse(data, headers={"Content-Disposition": disposition})


@login_required
@require_http_methods(["GET", "POST"])
def design(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the requirements of a study and obstacles to it; POST submits a design or begins the study."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    if not _is_studied(campaign):
        return render(request, "quality/studies/studies.html", {"campaign": campaign, "is_studied": False})
    last, begun = (_last_job(campaign, kind) for kind in ("quality.study_needs", "quality.study_begin"))
    asked = StudyDesign(**last.payload["design"]) if last else None
    if "begin" in request.POST:
        if asked is None or request.POST["begin"] != str(last.pk if last else ""):
            messages.error(request, _("Another study was planned in the meantime. Review it first."))
            return redirect("quality-study-design", slug=slug)
        return redirect("job", job_id=_enqueue(request, campaign, "quality.study_begin", asdict(asked)).pk)
    form = StudyForm(campaign, request.POST or None, initial=asdict(asked) if asked else None)
    if request.method == "POST" and form.is_valid():
        _enqueue(request, campaign, "quality.study_needs", asdict(form.design()))
        return redirect("quality-study-design", slug=slug)
    context = {
        "campaign": campaign,
        "form": form,
        "last": last,
        "design": asked,
        "begun": begun if begun and last and begun.created_at > last.created_at else None,
    }
    if last is not None and asked is not None and last.state == JobState.DONE:
        needs = StudyNeeds(**last.result)
        context |= {
            "needs": needs,
            "obstacles": [error_text(one) for one in obstacles_of(asked, needs)],
            "opinions": asked.experts * needs.items,
            "hours": needs.annotations * needs.seconds / 3600 if needs.seconds is not None else None,
        }
    return render(request, "quality/studies/design.html", context)


def _last_job(campaign: Campaign, kind: str) -> Job | None:
    return Job.objects.filter(scope_id=campaign.pk, kind=kind).order_by("-created_at").first()


def _enqueue(request: HttpRequest, campaign: Campaign, kind: str, design: dict[str, Any]) -> Job:
    return job_enqueue(
        kind=kind,
        payload=StudyPayload(campaign=str(campaign.pk), design=design),
        now=timezone.now(),
        scope_id=campaign.pk,
        requested_by_id=signed_in(request).surrogate_id,
    )


def _is_studied(campaign: Campaign) -> bool:
    return isinstance(TASK_TYPES[campaign.task_type], Extractive)


def _why(kept: dict[str, Any]) -> str:
    """Return the stored reason why a study couldn't be computed."""
    return keyed_text(kept["key"], kept["data"]) if "key" in kept else str(kept["why"])


def _shown(campaign: Campaign, data: dict[str, Any]) -> dict[str, Any]:
    """Return tables by kind of answer: experts' grades (Table 2), and people's scores (Table 3)."""
    pages = pages_of(campaign.task_type)
    precision, bounds = results_by_kind(data, "precision"), results_by_kind(data, "bounds")
    names = pages.part_names
    obstacles = [_why(one) for one in data.values() if isinstance(one, dict) and "why" in one]
    return {
        "obstacles": list(dict.fromkeys(obstacles)),  # several studies may lack the same
        "grades": [name for _grade, name, _description in pages.grades],
        "precision": [(names.get(kind, kind), one) for kind, one in precision.items() if one["n"]],
        "examples": _examples(data.get("examples", {}).get("items", []), pages),
        "bounds": [(names.get(kind, kind), one) for kind, one in bounds.items()],
    }


def _examples(kept: list[dict[str, Any]], pages: Pages) -> list[dict[str, Any]]:
    """Return Figures 5 and 6: items with their reference's answer and the number of equal answers."""
    names, grades = pages.part_names, {grade: name for grade, name, _ in pages.grades}
    items = Item.objects.in_bulk([one["item"] for one in kept])
    return [
        {
            "item": items[one["item"]],
            "lines": one["lines"][1:],
            "answers": [
                (names.get(kind, kind), {**found, "grade": grades.get(found["grade"], "")})
                for kind, found in one["answers"].items()
            ],
        }
        for one in kept
        if one["item"] in items
    ]
