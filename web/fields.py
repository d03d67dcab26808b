"""What is read from an address or a form is text that a database takes."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, HttpResponseBase, QueryDict

View = TypeVar("View", bound=Callable[..., Any])


class ReadableFieldsMiddleware:
    """Refuse fields with NUL, which PostgreSQL takes in no text, and bodies whose encoding is none of text.

    No browser sends either, so no view has to think of them.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request."""
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Callable[..., Any], *_: Any) -> HttpResponse | None:
        """Look at the fields before the view does."""
        try:
            is_readable = not _has_nul(request.GET)
            if is_readable and not getattr(view, "reads_raw_body", False):
                is_readable = not _has_nul(request.POST)
        except (LookupError, UnicodeError, OSError):  # OSError: it broke off
            is_readable = False
        if is_readable:
            return None
        return HttpResponseBadRequest("This request holds characters that are no text.", content_type="text/plain")


def raw_body(view: View) -> View:
    """Mark a view that reads the bytes of a request itself, and must not find them read."""
    view.reads_raw_body = True  # type: ignore[attr-defined]  # a mark, as Django's own decorators leave them
    return view


def _has_nul(fields: QueryDict) -> bool:
    return any("\x00" in text for name, values in fields.lists() for text in (name, *values))
