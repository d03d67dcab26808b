"""What a person sees when the database does not answer: when to try again, with what they sent."""

import sys

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.views.defaults import server_error

from accounts.given_back import fields_of
from database.transactions import is_transient

RETRY_SECONDS = 10


def failed(request: HttpRequest) -> HttpResponse:
    """Answer a request that failed; where the database was away, say so and give back what was sent."""
    error = sys.exc_info()[1]
    if error is None or not is_transient(error):
        return server_error(request)
    headers = {"Retry-After": str(RETRY_SECONDS)}
    said = _("The database doesn't respond. Nothing was saved. Try again in a moment.")
    if request.headers.get("Accept") == "application/json":
        return JsonResponse({"error": said}, status=503, headers=headers)
    if request.headers.get("HX-Request"):
        return HttpResponse(said, status=503, headers=headers, content_type="text/plain; charset=utf-8")
    context = {
        "path": request.get_full_path(),
        "fields": fields_of(request) if request.method == "POST" else [],
        "token": request.POST.get("csrfmiddlewaretoken", "") if request.method == "POST" else "",
        "has_files": bool(request.FILES) if request.method == "POST" else False,
    }
    # Without the request: what pages know of a person is in the database.
    return HttpResponse(render_to_string("503.html", context), status=503, headers=headers)
