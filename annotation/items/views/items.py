"""What a manager does with one item or annotation: retire it, exclude it, count it again."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.permissions import Action, signed_in
from annotation.access import campaign_for
from annotation.campaigns.selectors.sealing import unsealed
from annotation.items.services.items import item_retire
from annotation.models import Annotation, Campaign, Item
from annotation.slots.services.exclusions import annotation_exclude, annotation_restore


@login_required
@require_POST
def retire(request: HttpRequest, slug: str, item_id: int) -> HttpResponse:
    """Take a broken item out of use."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    item = get_object_or_404(Item, pk=item_id, campaign=campaign)
    reason = request.POST.get("reason", "").strip() or _("broken")
    if item_retire(item=item, reason=reason, actor_id=signed_in(request).surrogate_id, now=timezone.now()):
        messages.success(request, _("Retired. What was submitted is kept."))
    else:
        messages.error(request, _("It is retired already, or its split is sealed."))
    return redirect("item", slug=slug, item_id=item_id)


@login_required
@require_POST
def exclude(request: HttpRequest, slug: str, annotation_id: int) -> HttpResponse:
    """Count an annotation no longer and ask for another."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    annotation = _annotation_for(campaign, annotation_id)
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
    annotation = _annotation_for(campaign, annotation_id)
    actor_id = signed_in(request).surrogate_id
    if not annotation_restore(annotation=annotation, actor_id=actor_id, now=timezone.now()):
        messages.error(
            request, _("It cannot count again: another annotator has its place by now, or its author is suspended.")
        )
    else:
        messages.success(request, _("It counts again."))
    return redirect("item", slug=slug, item_id=annotation.item_id)


def _annotation_for(campaign: Campaign, annotation_id: int) -> Annotation:
    """Return an annotation that a manager may see; of those of a sealed split none is there to be picked out."""
    return get_object_or_404(Annotation, unsealed(), pk=annotation_id, campaign=campaign)
