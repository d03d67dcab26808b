"""The response when the database can't be reached: it says when to try again and returns the submitted data."""

import sys

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.views.defaults import server_error

from accounts.given_back import fields_of, for_scripts
from database.transactions import is_transient

RETRY_SECONDS = 10


def failed(request: HttpRequest) -> HttpResponse:
    """Answer a failed request; if the database couldn't be reached, say so and return the submitted data."""
    error = sys.exc_info()[1]
    if error is None or not is_transient(error):
        return server_error(request)
    headers = {"Retry-After": str(RETRY_SECONDS)}
    said = _("The database isn't responding. Nothing was saved. Try again in a moment.")
    if (answer := for_scripts(request, said, status=503, headers=headers)) is not None:
        return answer
    context = {
        "path": request.get_full_path(),
        "fields": fields_of(request),
        "token": request.POST.get("csrfmiddlewaretoken", ""),
        "has_files": bool(request.FILES),
    }
    # Without the request: what pages know of a person is in the database.
    return HttpResponse(render_to_string("503.html", context), status=503, headers=headers)
