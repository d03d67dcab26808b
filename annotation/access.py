"""Finding a campaign for a person with access to it; for everyone else, the campaign doesn't seem to exist."""

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from accounts.permissions import Action, actions_of, can, signed_in
from annotation.campaigns.selectors.campaigns import campaigns_worked_in
from annotation.language import language_speak
from annotation.models import Campaign


def campaign_for(request: HttpRequest, slug: str, action: Action) -> Campaign:
    """Return the campaign, or answer 404 if it doesn't exist or the person has no access."""
    campaign = get_object_or_404(Campaign, slug=slug)
    user = signed_in(request)
    if not can(user, action, campaign.pk):
        raise Http404
    # The tabs of the campaign's pages show only where this person may go.
    request.campaign_actions = actions_of(user, campaign.pk)  # type: ignore[attr-defined]
    if action is Action.ANNOTATE:
        language_speak(request, campaign)
    return campaign


def own_campaign_for(request: HttpRequest, slug: str) -> Campaign:
    """Return a campaign where a person annotates, or did so earlier and has work; else answer 404."""
    user = signed_in(request)
    return campaigns_worked_in(user).filter(slug=slug).first() or campaign_for(request, slug, Action.ANNOTATE)
