"""Two hosts, two worlds: the content of requesters is served from a host where nothing else is."""

from collections.abc import Callable
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse

CONTENT_PREFIX = "/content/"


class HostMiddleware:
    """Serve ``/content/`` on the content host only, and nothing else there."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.content_host = urlsplit(settings.MARKETPLACE_CONTENT_URL).hostname

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request, or say that there is nothing here."""
        host = urlsplit(f"//{request.get_host()}").hostname
        on_content_host = host == self.content_host
        if on_content_host is not request.path.startswith(CONTENT_PREFIX):
            return HttpResponse("There is nothing here.", status=404, content_type="text/plain")
        return self.get_response(request)
