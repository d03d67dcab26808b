"""Pages for sealing a split and for showing its labels again."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.permissions import Action, signed_in
from annotation.access import campaign_for
from annotation.models import Campaign, Split
from quality.labels.services.sealing import SealError, split_seal, split_unseal
from web.error_texts import error_text


@login_required
@require_POST
def seal(request: HttpRequest, slug: str, split_name: str) -> HttpResponse:
    """Seal a finished split."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    split = _split_for(campaign, split_name)
    try:
        split_seal(split=split, actor_id=signed_in(request).surrogate_id, now=timezone.now())
        messages.success(request, _("%(split)s is sealed. Its labels are used only for scores.") % {"split": split})
    except SealError as error:
        messages.error(request, error_text(error))
    return redirect("releases", slug=slug)


@login_required
@require_POST
def unseal(request: HttpRequest, slug: str, split_name: str) -> HttpResponse:
    """Show the labels of a split again."""
    campaign = campaign_for(request, slug, Action.UNSEAL)
    split = _split_for(campaign, split_name)
    actor_id, reason = signed_in(request).surrogate_id, request.POST.get("reason", "")
    try:
        split_unseal(split=split, reason=reason, actor_id=actor_id, now=timezone.now())
        messages.success(request, _("%(split)s is no longer sealed.") % {"split": split})
    except SealError as error:
        messages.error(request, error_text(error))
    return redirect("releases", slug=slug)


def _split_for(campaign: Campaign, name: str) -> Split:
    """Return a split by its name from the URL; compared in Python, because the name may contain any character."""
    found = next((one for one in campaign.splits.select_related("campaign") if one.name == name), None)
    if found is None:
        raise Http404
    return found
