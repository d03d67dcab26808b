"""Responses that return submitted data which the server couldn't accept, so that people can send it again."""

from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render, resolve_url
from django.utils.translation import gettext as _

# The session ended; or the form is of an earlier session, because there was a login since the page was opened.
OUT, TOKEN = "out", "token"
SESSION_HEADER = "X-Session"
_SECRET = ("password", "csrfmiddlewaretoken")
_LONG = 60  # characters that are worth copying


def given_back(request: HttpRequest, why: str, page: str = "") -> HttpResponse:
    """Answer a submission that wasn't allowed, and return the submitted data to its sender.

    Scripts get a header and a sentence. People get a page with everything that they sent.
    """
    status = 401 if why == OUT else 403
    headers = {SESSION_HEADER: why}
    if (answer := for_scripts(request, _sentence(why), status=status, headers=headers)) is not None:
        return answer
    login = f"{resolve_url(settings.LOGIN_URL)}?{urlencode({'next': page or '/'})}"
    context = {"why": why, "login": login, "page": page, "fields": fields_of(request), "has_files": bool(request.FILES)}
    response = render(request, "accounts/given_back.html", context, status=status)
    response[SESSION_HEADER] = why
    return response


def for_scripts(request: HttpRequest, sentence: str, *, status: int, headers: Mapping[str, str]) -> HttpResponse | None:
    """Return a sentence in the form that the requesting script expects; None for a person, who gets a page."""
    if request.headers.get("Accept") == "application/json":
        return JsonResponse({"error": sentence}, status=status, headers=headers)
    if request.headers.get("HX-Request"):
        return HttpResponse(sentence, status=status, headers=headers, content_type="text/plain; charset=utf-8")
    return None


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form with an outdated CSRF token; most often, its page was open while its person logged in again."""
    is_out = not getattr(request, "user", None) or not request.user.is_authenticated
    return given_back(request, OUT if is_out else TOKEN)


def _sentence(why: str) -> str:
    if why == OUT:
        return _("You were logged out. Your work is kept in this tab. Log in again in another tab, then continue here.")
    return _("You logged out, or another account logged in, after this page was opened. Your work is kept in this tab.")


def fields_of(request: HttpRequest) -> list[tuple[str, str, bool]]:
    """Return (name, value, whether it is long) of each submitted field, without secrets and fields from other sites."""
    own = resolve_url(settings.LOGIN_URL).rsplit("/", 2)[0] + "/"
    if not _is_from_here(request) or request.path.startswith(own):
        return []
    sent = [(name, value) for name, values in request.POST.lists() for value in values]
    return [(name, str(value), len(str(value)) >= _LONG) for name, value in sent if not name.startswith(_SECRET)]


def _is_from_here(request: HttpRequest) -> bool:
    """Return whether our own page sent this. Resubmitting another site's form could do what that site wants."""
    site = request.headers.get("Sec-Fetch-Site")
    origin = request.headers.get("Origin") or request.headers.get("Referer") or ""
    return (site or "same-origin") == "same-origin" and urlsplit(origin).netloc == request.get_host()
