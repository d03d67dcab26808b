"""Former addresses of a campaign's pages: each redirects to the current address of its page."""

import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponsePermanentRedirect
from django.http.response import HttpResponseBase
from django.utils.encoding import escape_uri_path

# What stood behind a campaign's short name, and what stands there now; the first that fits.
MOVED = (
    ("quality/people", "annotators"),
    ("quality/behaviour", "behavior"),
    ("quality/gold", "gold"),
    ("quality/experts", "experts"),
    ("quality/audits", "audits"),
    ("quality/target", "error-target"),
    ("quality/studies", "studies"),
    ("quality/policy", "policy"),
    ("quality/rules", "rules"),
    ("quality", "summary"),
    ("decisions", "review"),
    ("inspect", "spot-checks"),
    ("pages", "documents"),
    ("people", "members"),
    ("workforces", "recruitment"),
    ("boards", "leaderboards"),
    ("log", "activity"),
)
_OLD = re.compile(
    rf"/campaigns/(?P<slug>[-\w]+)/(?P<old>{'|'.join(old for old, _ in MOVED)})(?P<rest>[/.].*)", re.DOTALL
)


def address_now(path: str) -> str | None:
    """Return the current address for a former one, or None."""
    found = _OLD.fullmatch(path)
    return f"/campaigns/{found['slug']}/{dict(MOVED)[found['old']]}{found['rest']}" if found else None


class MovedAddresses:
    """Redirect requests for a former address that returns 404 to the current one; forms keep their content."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the normal response, unless the address has moved."""
        response = self.get_response(request)
        if response.status_code != 404:
            return response
        now = address_now(request.path_info)
        if now is None:
            return response
        query = f"?{request.META['QUERY_STRING']}" if request.META.get("QUERY_STRING") else ""
        return HttpResponsePermanentRedirect(f"{escape_uri_path(now)}{query}", preserve_request=True)
