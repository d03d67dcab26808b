"""The page of an item, with all its annotations side by side and its history."""

import json

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from accounts.permissions import Action, can, signed_in
from annotation.access import campaign_for
from annotation.campaigns.selectors.sealing import is_sealed
from annotation.items.selectors import answers_side_by_side, comparison_of, document_marked
from annotation.models import Item
from annotation.tasktypes.registry import pages_of
from quality.labels.selectors.item_history import history_of
from quality.models import Verdict


@login_required
@require_GET
def item(request: HttpRequest, slug: str, item_id: int) -> HttpResponse:
    """Show an item's page with its annotations side by side, and its history."""
    campaign = campaign_for(request, slug, Action.SEE_ANSWERS)
    rows = Item.objects.select_related("tokenization__document", "split", "batch", "follows")
    found = get_object_or_404(rows, pk=item_id, campaign=campaign)
    if is_sealed(found):
        return render(request, "quality/labels/item_sealed.html", {"campaign": campaign, "item": found})
    found.campaign = campaign
    pages, answers = pages_of(campaign.task_type), answers_side_by_side(found)
    context = {
        "campaign": campaign,
        "item": found,
        "pages": pages,
        "comparison": comparison_of(answers),
        "history": history_of(found, {answer.annotation.surrogate_id: answer for answer in answers}),
        "verdict": Verdict.objects.filter(item=found, superseded_at=None).first(),
        "before": campaign.items.filter(pk__lt=found.pk).order_by("-pk").values_list("pk", flat=True).first(),
        "behind": campaign.items.filter(pk__gt=found.pk).order_by("pk").values_list("pk", flat=True).first(),
        "follow_ups": Item.objects.filter(follows__item=found).order_by("pk")[:50],
        "reports": found.reports.order_by("pk")[:50],
        "may_manage": can(signed_in(request), Action.MANAGE, campaign.pk),
        "origin": found.origin and json.dumps(json.loads(found.origin), ensure_ascii=False, indent=1),
    }
    if found.tokenization is None:
        context |= pages.item(found.content)
    else:
        context |= document_marked(found, answers)
    return render(request, "quality/labels/item.html", context)
