"""Pages travel compressed, those of people who are logged in too.

What could be guessed from the size of compressed answers is protected twice: Django masks the tokens of forms again
in every answer, and its middleware gives each answer a random length.
"""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

TYPES = ("text/html", "text/javascript", "application/json")


class CompressedPagesMiddleware(GZipMiddleware):
    """Compress pages, not downloads: those are compressed already or streamed as they are."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Compress the answer if the browser takes it so."""
        if response.streaming or not response.get("Content-Type", "").startswith(TYPES):
            return response
        return super().process_response(request, response)
