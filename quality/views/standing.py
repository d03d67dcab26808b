"""What an annotator reads about their standing in a campaign, and their appeal against a suspension."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.permissions import signed_in
from annotation.views.access import own_campaign_for
from quality.models import Review, ReviewState
from quality.services.people import ReviewError
from quality.services.suspensions import suspension_appeal, suspension_of
from workforces.selectors import standing_of


@login_required
@require_http_methods(["GET", "POST"])
def standing(request: HttpRequest, slug: str) -> HttpResponse:
    """Show an annotator why they get no work and what happens next; POST appeals against a suspension."""
    campaign = own_campaign_for(request, slug)
    surrogate_id = signed_in(request).surrogate_id
    if request.method == "POST":
        text = request.POST.get("text", "")
        try:
            suspension_appeal(campaign=campaign, surrogate_id=surrogate_id, text=text, now=timezone.now())
            messages.success(request, _("A manager will read it and answer here."))
        except ReviewError as error:
            messages.error(request, str(error))
        return redirect("quality-standing", slug=slug)
    waiting = Review.objects.filter(campaign=campaign, surrogate_id=surrogate_id, state=ReviewState.OPEN).first()
    context = {
        "campaign": campaign, "waiting": waiting,
        "suspension": suspension_of(campaign=campaign, surrogate_id=surrogate_id),
        **standing_of(campaign=campaign, surrogate_id=surrogate_id),
    }  # fmt: skip
    return render(request, "quality/standing.html", context)
