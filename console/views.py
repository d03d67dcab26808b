"""Home, health, and the style guide."""

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.db import DatabaseError, connection
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from accounts.models import Role
from accounts.permissions import Action, can, signed_in
from annotation.selectors.campaigns import campaigns_of


@login_required
@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """List what a person can do here: work to do, campaigns to look after."""
    user = signed_in(request)
    rows = campaigns_of(user)
    context = {
        "work": [campaign for campaign, roles in rows if Role.ANNOTATOR in roles],
        "campaigns": [campaign for campaign, roles in rows if user.is_admin or roles - {Role.ANNOTATOR}],
        "may_create": can(user, Action.CREATE_CAMPAIGN),
    }
    return render(request, "console/home.html", context)


@require_GET
def alive(request: HttpRequest) -> HttpResponse:
    """Say that the process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_GET
def ready(request: HttpRequest) -> HttpResponse:
    """Return whether the database answers too."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return HttpResponse("database unavailable\n", status=503, content_type="text/plain")
    return HttpResponse("ok\n", content_type="text/plain")


@require_GET
def styleguide(request: HttpRequest) -> HttpResponse:
    """Show every component in every state; development only."""
    if not settings.STYLEGUIDE:
        raise Http404
    return render(request, "console/styleguide.html")
