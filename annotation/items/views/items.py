"""A manager's actions on one item or annotation: retire it, exclude it, or count it again."""

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
        messages.success(request, _("Item retired. Submitted answers are kept."))
    else:
        messages.error(request, _("This item can't be retired. It's already retired, or its split is sealed."))
    return redirect("item", slug=slug, item_id=item_id)


@login_required
@require_POST
def exclude(request: HttpRequest, slug: str, annotation_id: int) -> HttpResponse:
    """Stop counting an annotation and request another."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    annotation = _annotation_for(campaign, annotation_id)
    actor_id = signed_in(request).surrogate_id
    if annotation_exclude(annotation=annotation, because="manager", actor_id=actor_id, now=timezone.now()):
        messages.success(
            request,
            _("The annotation was excluded, and a replacement was requested. To undo this, choose “Count again”."),
        )
    else:
        messages.error(request, _("The annotation was already excluded."))
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
            request,
            _(
                "The annotation can't be restored. Another annotator has answered the item since then, or the annotation's author is suspended."
            ),
        )
    else:
        messages.success(request, _("Annotation restored. It's counted again."))
    return redirect("item", slug=slug, item_id=annotation.item_id)


def _annotation_for(campaign: Campaign, annotation_id: int) -> Annotation:
    """Return an annotation that a manager may see; annotations of sealed splits can't be selected."""
    return get_object_or_404(Annotation, unsealed(), pk=annotation_id, campaign=campaign)
