"""Checks that the fields from URLs and forms are text that a database accepts."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, HttpResponseBase, QueryDict

View = TypeVar("View", bound=Callable[..., Any])


class ReadableFieldsMiddleware:
    """Refuse fields with NUL, which PostgreSQL can't store in text, and bodies with an encoding that isn't for text.

    Browsers send neither, so views needn't handle them.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response to the request."""
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Callable[..., Any], *_: Any) -> HttpResponse | None:
        """Check the fields before the view runs."""
        if getattr(view, "checks_own_fields", False):
            return None
        try:
            is_readable = not has_nul(request.GET)
            if is_readable and not getattr(view, "reads_raw_body", False):
                is_readable = not has_nul(request.POST)
        except (LookupError, UnicodeError, OSError):  # OSError: it broke off
            is_readable = False
        if is_readable:
            return None
        return HttpResponseBadRequest("This request holds characters that are no text.", content_type="text/plain")


def raw_body(view: View) -> View:
    """Mark a view that reads the raw bytes of a request, so that the body isn't read before."""
    view.reads_raw_body = True  # type: ignore[attr-defined]  # a mark, as Django's own decorators leave them
    return view


def own_fields(view: View) -> View:
    """Mark a view that checks what was sent itself, because it answers in another form than pages do."""
    view.checks_own_fields = True  # type: ignore[attr-defined]  # as above
    return view


def has_nul(fields: QueryDict) -> bool:
    """Return whether the name or value of a field contains NUL."""
    return any("\x00" in text for name, values in fields.lists() for text in (name, *values))
