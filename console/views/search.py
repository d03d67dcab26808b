"""The search of a campaign."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from accounts.permissions import Action, actions_of, signed_in
from annotation.access import campaign_for
from console.search import search


@login_required
@require_GET
def search_page(request: HttpRequest, slug: str) -> HttpResponse:
    """List the pages, settings, items, and people whose names match the search text."""
    campaign = campaign_for(request, slug, Action.SEE_CAMPAIGN)
    text = request.GET.get("q", "")
    found = search(campaign=campaign, actions=actions_of(signed_in(request), campaign.pk), text=text)
    return render(request, "console/search.html", {"campaign": campaign, "text": text, "found": found})
