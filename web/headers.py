"""Headers that Django has no setting for."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

# What these pages never ask a browser for, so that nothing framed or injected can.
UNUSED = ("camera", "microphone", "geolocation", "payment", "usb", "display-capture", "publickey-credentials-get")
POLICY = ", ".join(f"{feature}=()" for feature in UNUSED)


class PermissionsPolicyMiddleware:
    """Turn off browser features that the pages don't use."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Add the header."""
        response = self.get_response(request)
        response.headers.setdefault("Permissions-Policy", POLICY)
        return response


class PrivatePagesMiddleware:
    """Prevent browsers from storing pages of logged-in people.

    Otherwise, the next person at a shared computer could go back to a page.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Add the header unless the view has set it."""
        response = self.get_response(request)
        if settings.SESSION_COOKIE_NAME in request.COOKIES:
            response.headers.setdefault("Cache-Control", "private, no-store")
        return response
