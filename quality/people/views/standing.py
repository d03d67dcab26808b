"""The annotator's page about their standing in a campaign, and their appeal against a suspension."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.permissions import signed_in
from annotation.access import own_campaign_for
from annotation.models import Campaign
from quality.models import Review, ReviewState
from quality.people.services.reviews import ReviewError
from quality.people.services.suspensions import suspension_appeal, suspension_of
from web.error_texts import error_text
from workforces.selectors import standing_of
from workforces.services.statements import NoStatement, StatementOver, statement_ticket


@login_required
@require_http_methods(["GET", "POST"])
def standing(request: HttpRequest, slug: str) -> HttpResponse:
    """Show an annotator why they get no work and what happens next; POST submits an appeal against a suspension."""
    return _standing(request, own_campaign_for(request, slug), signed_in(request).surrogate_id)


@never_cache
@require_http_methods(["GET", "POST"])
def statement_standing(request: HttpRequest, token: str) -> HttpResponse:
    """Show the standing page to a person from a marketplace or a panel, by the token of their statement."""
    try:
        ticket = statement_ticket(token)
    except (NoStatement, StatementOver) as error:
        raise Http404 from error
    return _standing(
        request, ticket.workforce.campaign, ticket.surrogate_id, statement=reverse("statement", args=[token])
    )


def _standing(request: HttpRequest, campaign: Campaign, surrogate_id: UUID, statement: str = "") -> HttpResponse:
    if request.method == "POST":
        text = request.POST.get("text", "")
        try:
            suspension_appeal(campaign=campaign, surrogate_id=surrogate_id, text=text, now=timezone.now())
            messages.success(request, _("A manager will reply here."))
        except ReviewError as error:
            messages.error(request, error_text(error))
        return redirect(request.path)
    waiting = Review.objects.filter(campaign=campaign, surrogate_id=surrogate_id, state=ReviewState.OPEN).first()
    context = {
        "campaign": campaign,
        "waiting": waiting,
        "statement": statement,
        "is_in_time": waiting is not None and waiting.decide_by > timezone.now(),
        "suspension": suspension_of(campaign=campaign, surrogate_id=surrogate_id),
        **standing_of(campaign=campaign, surrogate_id=surrogate_id),
    }
    return render(request, "quality/people/standing.html", context)
