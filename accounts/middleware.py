"""Logins that are interrupted: a session that ended during work, and a login provider that doesn't respond."""

import logging
from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme

from accounts.given_back import OUT, given_back

logger = logging.getLogger(__name__)


class LoginReturnMiddleware:
    """Send people who have to log in back to the page they were on.

    A browser can't open the address of a form, a page fragment or a draft, so people return to the page around it.
    htmx requests with GET get the login's address in a header. POST requests get their data back, so nothing is lost.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Handle responses that redirect to the login."""
        response = self.get_response(request)
        login = resolve_url(settings.LOGIN_URL)
        if response.status_code != 302 or not response.headers["Location"].startswith(f"{login}?"):
            return response
        is_partial = bool(request.headers.get("HX-Request"))
        if request.method != "POST":
            if not is_partial:
                return response
            address = f"{login}?{urlencode({'next': _page(request)})}"
            return HttpResponse(status=204, headers={"HX-Redirect": address})
        return given_back(request, OUT, _page(request))


class ProviderAwayMiddleware:
    """Say that a login provider doesn't respond, where the library would fail."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        if not settings.LOGIN_PROVIDERS:
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Return a page for a provider that can't be reached; another error stays as it is."""
        from requests import RequestException  # noqa: PLC0415  installed for the providers

        if not isinstance(error, RequestException):
            return None
        logger.warning("a login provider doesn't respond: %s", error)
        return render(request, "account/provider_away.html", status=HTTPStatus.SERVICE_UNAVAILABLE)


def _page(request: HttpRequest) -> str:
    """Return the page that contains a form or page fragment; the home page if that isn't a page of ours."""
    page = request.headers.get("HX-Current-URL") or request.headers.get("Referer") or ""
    if not url_has_allowed_host_and_scheme(page, allowed_hosts={request.get_host()}, require_https=request.is_secure()):
        return resolve_url(settings.LOGIN_REDIRECT_URL)
    parts = urlsplit(page)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path
