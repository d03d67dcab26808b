"""Compressed pages, including those for logged-in people.

The size of compressed responses could reveal secrets. Two measures prevent that: Django masks form tokens differently
in every response, and its middleware gives each response a random length.
"""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

TYPES = ("text/html", "text/javascript", "application/json")


class CompressedPagesMiddleware(GZipMiddleware):
    """Compress pages, not downloads, which are already compressed or are streamed."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Compress the response if the browser accepts it."""
        if response.streaming or not response.get("Content-Type", "").startswith(TYPES):
            return response
        return super().process_response(request, response)
