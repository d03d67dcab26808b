"""Hosts: one for the worker site, another for requesters' content; the API answers on any but the latter."""

from collections.abc import Callable
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

CONTENT_PREFIX = "/content/"
PROBES = ("/healthz", "/readyz", "/metrics")


class HostMiddleware:
    """Serve ``/content/`` on the content host only, and nothing else there; redirect browsers to the worker site."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request, redirect it to the right host, or return 404."""
        host = urlsplit(f"//{request.get_host()}").hostname
        on_content_host = host == urlsplit(settings.MARKETPLACE_CONTENT_URL).hostname
        if on_content_host is not request.path.startswith(CONTENT_PREFIX):
            return HttpResponse("There is nothing here.", status=404, content_type="text/plain")
        elsewhere = not on_content_host and host != urlsplit(settings.MARKETPLACE_URL).hostname
        if elsewhere and request.method == "GET" and request.path not in PROBES:
            # Frames and cookies belong to the worker site's own host; on another no task would show.
            return HttpResponseRedirect(f"{settings.MARKETPLACE_URL}{request.get_full_path()}")
        return self.get_response(request)
