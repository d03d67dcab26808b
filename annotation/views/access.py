"""Finding a campaign for somebody who may be there; to everybody else it does not exist."""

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from accounts.permissions import Action, can, signed_in
from annotation.models import Campaign


def campaign_for(request: HttpRequest, slug: str, action: Action) -> Campaign:
    """Return the campaign, or answer 404 as if there were none."""
    campaign = get_object_or_404(Campaign, slug=slug)
    if not can(signed_in(request), action, campaign.pk):
        raise Http404
    return campaign
