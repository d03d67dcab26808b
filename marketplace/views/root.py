"""The root: a worker's browser gets the list of HITs, a requester's program the API."""

from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from marketplace.api.dispatch import dispatch
from marketplace.health import readiness
from marketplace.metrics import readings
from marketplace.views.hits import listing
from web.metrics import metrics_response


@require_http_methods(["GET", "HEAD", "POST"])
def root(request: HttpRequest) -> HttpResponse:
    """Answer ``POST`` as the requester API, anything else as the front page."""
    if request.method == "POST":
        return dispatch(request)
    if not request.user.is_authenticated:
        return render(request, "marketplace/front.html")
    return listing(request)


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Report whether people can work here and requesters hear of it; if not, why."""
    return readiness.response(timezone.now())


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer Prometheus, which sends the token of the metrics."""
    return metrics_response(request, readings, timezone.now())


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Report that the process responds and can reach its database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return HttpResponse("ok", content_type="text/plain")
