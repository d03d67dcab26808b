"""Pages for manual checks: one annotation after another, with one keystroke per verdict."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from accounts.parameters import whole_number
from accounts.permissions import Action, signed_in
from annotation.access import campaign_for
from annotation.items.selectors import answer_shown, document_marked
from annotation.models import Campaign
from annotation.tasktypes.registry import TASK_TYPES, pages_of
from quality.experts.selectors import left_of
from quality.experts.services.cases import CaseError, case_ask
from quality.experts.services.inspections import inspection_decide, inspection_next, inspections_waiting
from quality.models import CaseReason, Inspection, InspectionVerdict
from quality.policies.selectors import policy_current
from web.error_texts import error_text


@login_required
@require_http_methods(["GET", "POST"])
def inspect(request: HttpRequest, slug: str) -> HttpResponse:
    """Show drawn annotations one after another, with one keystroke per verdict."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    if request.method == "POST":
        _decide(request, campaign)
        return redirect("quality-inspect", slug=campaign.slug)
    found = inspection_next(campaign=campaign)
    context: dict[str, Any] = {"campaign": campaign, "inspection": found, "verdicts": _keyed(InspectionVerdict.choices)}
    if found is not None:
        pages, annotation = pages_of(campaign.task_type), found.annotation
        shown = answer_shown(annotation)
        can_ask = bool(TASK_TYPES[campaign.task_type].parts([annotation.answer]))
        context |= {"pages": pages, "shown": shown, "can_ask": can_ask}
        context |= left_of(inspections_waiting(campaign=campaign))
        context |= pages.item(annotation.item.content) | pages.answer(annotation.item, annotation.answer)
        if annotation.item.tokenization is not None:
            annotation.item.campaign = campaign
            context |= document_marked(annotation.item, [shown])
    return render(request, "quality/experts/inspect.html", context)


def _decide(request: HttpRequest, campaign: Campaign) -> None:
    inspection = get_object_or_404(
        Inspection.objects.select_related("annotation__item__campaign"),
        pk=whole_number(request.POST.get("inspection", "")),
        campaign=campaign,
    )
    verdict, actor_id, now = request.POST.get("verdict", ""), signed_in(request).surrogate_id, timezone.now()
    if verdict not in InspectionVerdict.values:
        raise Http404
    inspection_decide(
        inspection=inspection,
        verdict=InspectionVerdict(verdict),
        exclude="exclude" in request.POST,
        actor_id=actor_id,
        now=now,
    )
    if "ask" in request.POST:
        policy = policy_current(campaign)
        try:
            case_ask(
                item=inspection.annotation.item,
                because=CaseReason.INSPECTION,
                actor_id=actor_id,
                now=now,
                experts=policy[1].experts if policy else 1,
            )
        except CaseError as error:
            messages.error(request, error_text(error))


def _keyed(choices: list[tuple[str, Any]]) -> list[tuple[int, str, Any]]:
    return [(number, value, label) for number, (value, label) in enumerate(choices, start=1)]
