"""Home, health, and the style guide."""

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_safe

from accounts.models import Role
from accounts.permissions import Action, can, signed_in
from annotation.campaigns.selectors.campaigns import campaigns_of, campaigns_worked_in
from annotation.people.selectors.progress import progress_of
from console.health import readiness
from console.metrics import readings
from console.selectors import MOST, campaign_cards, waiting_rows
from quality.experts.selectors import expert_work
from web.metrics import metrics_response


@login_required
@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """List a person's work and the campaigns that they manage."""
    user = signed_in(request)
    rows = campaigns_of(user)
    managed = [campaign for campaign, roles in rows if user.is_admin or Role.MANAGER in roles]
    cards = campaign_cards(managed, timezone.now())
    inbox = {one.campaign.pk for one in cards}
    others = [campaign for campaign, roles in rows if user.is_admin or roles - {Role.ANNOTATOR}]
    judged = [campaign for campaign, roles in rows if Role.EXPERT in roles][:MOST]
    expert = [expert_work(campaign=campaign, surrogate_id=user.surrogate_id) for campaign in judged]
    context = {
        "expert_work": [one for one in expert if one.cases or one.discussions],
        "work": progress_of([campaign for campaign, roles in rows if Role.ANNOTATOR in roles], user.surrogate_id),
        "worked_in": campaigns_worked_in(user)[:50],
        "campaign_cards": [(one, waiting_rows(one.waiting)) for one in cards],
        "campaigns": [campaign for campaign in others if campaign.pk not in inbox],
        "may_create": can(user, Action.CREATE_CAMPAIGN),
    }
    return render(request, "console/home.html", context)


@require_safe
def alive(request: HttpRequest) -> HttpResponse:
    """Respond, to show that the process is running."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """Report whether people can work here and their work is reviewed; if not, why."""
    return readiness.response(timezone.now())


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer Prometheus, which sends the token of the metrics."""
    return metrics_response(request, readings, timezone.now())


@require_GET
def styleguide(request: HttpRequest) -> HttpResponse:
    """Show every component in every state; development only."""
    if not settings.STYLEGUIDE:
        raise Http404
    return render(request, "console/styleguide.html")
