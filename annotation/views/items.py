"""Items, one by one and in lists, and the disagreements of a pilot."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.parameters import whole_number
from accounts.permissions import Action, can, signed_in
from annotation.forms import ItemsFilterForm
from annotation.models import Annotation, Item, Purpose
from annotation.selectors.items import items_page, pilot_items
from annotation.services.exclusions import annotation_exclude, annotation_restore
from annotation.services.items import item_retire
from annotation.views.access import campaign_for


@login_required
@require_GET
def item_list(request: HttpRequest, slug: str) -> HttpResponse:
    """List items, a page at a time by key."""
    campaign = campaign_for(request, slug, Action.SEE_ITEMS)
    shows_gold = can(signed_in(request), Action.SEE_ANSWERS, campaign.pk)
    wanted = ItemsFilterForm(request.GET).wanted(sees_answers=shows_gold)
    after = whole_number(request.GET.get("after"))
    page = items_page(campaign=campaign, wanted=wanted, after=after, shows_gold=shows_gold)
    splits = campaign.splits.order_by("position")
    if not shows_gold:
        splits = splits.exclude(pk__in=campaign.items.filter(batch__purpose=Purpose.GOLD).values("split"))
    context = {
        "campaign": campaign, "page": page, "splits": splits, "wanted": wanted, "sees_answers": shows_gold,
        "batches": campaign.batches.exclude(purpose=Purpose.GOLD).order_by("ordinal"),
        "guidelines": campaign.guidelines.order_by("version"),
    }  # fmt: skip
    return render(request, "annotation/items.html", context)


@login_required
@require_POST
def retire(request: HttpRequest, slug: str, item_id: int) -> HttpResponse:
    """Take a broken item out of use."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    item = get_object_or_404(Item, pk=item_id, campaign=campaign)
    reason = request.POST.get("reason", "").strip() or _("broken")
    item_retire(item=item, reason=reason, actor_id=signed_in(request).surrogate_id, now=timezone.now())
    messages.success(request, _("Retired. What was submitted is kept."))
    return redirect("item", slug=slug, item_id=item_id)


@login_required
@require_POST
def exclude(request: HttpRequest, slug: str, annotation_id: int) -> HttpResponse:
    """Count an annotation no longer and ask for another."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    annotation = get_object_or_404(Annotation, pk=annotation_id, campaign=campaign)
    actor_id = signed_in(request).surrogate_id
    if annotation_exclude(annotation=annotation, because="manager", actor_id=actor_id, now=timezone.now()):
        messages.success(request, _("It counts no longer, and its place is open again. “Count again” takes that back."))
    else:
        messages.error(request, _("It did not count any more."))
    return redirect("item", slug=slug, item_id=annotation.item_id)


@login_required
@require_POST
def restore(request: HttpRequest, slug: str, annotation_id: int) -> HttpResponse:
    """Count an excluded annotation again."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    annotation = get_object_or_404(Annotation, pk=annotation_id, campaign=campaign)
    actor_id = signed_in(request).surrogate_id
    if not annotation_restore(annotation=annotation, actor_id=actor_id, now=timezone.now()):
        messages.error(
            request, _("It cannot count again: another annotator has its place by now, or its author is suspended.")
        )
    else:
        messages.success(request, _("It counts again."))
    return redirect("item", slug=slug, item_id=annotation.item_id)


@login_required
@require_GET
def pilot(request: HttpRequest, slug: str) -> HttpResponse:
    """Show where colleagues disagreed in the pilot."""
    campaign = campaign_for(request, slug, Action.SEE_ANSWERS)
    may_manage = can(signed_in(request), Action.MANAGE, campaign.pk)
    context = {"campaign": campaign, "may_manage": may_manage, **pilot_items(campaign)}
    return render(request, "annotation/pilot.html", context)
