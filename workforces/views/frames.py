"""Pages in another site's frame: without cookies, under a policy that names the sites allowed to frame them."""

from collections.abc import Callable, Mapping
from functools import wraps
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from csp.constants import NONE, SELF
from csp.decorators import csp_replace
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt

from annotation.desk.problems import PROBLEMS, Problem, is_script, problem_json, problem_of
from annotation.work.services.assignments import ConsentMissing
from web.error_texts import error_text
from workforces.kinds.base import ArrivalRefused
from workforces.services.tickets import TicketRefused

View = Callable[..., HttpResponse]


class VisitOver(Exception):
    """The signed address is invalid or has expired."""


def origins() -> list[str]:
    """Return the marketplaces that may frame these pages and receive submissions."""
    return sorted({"{0.scheme}://{0.netloc}".format(urlsplit(url)) for url in settings.MTURK_SUBMIT_URLS})


TOLD: tuple[type[Exception], ...] = (VisitOver, ArrivalRefused, TicketRefused, *PROBLEMS)


def _problem_of(error: Exception) -> Problem:
    if isinstance(error, VisitOver):
        over = _("This link is no longer valid. Open the task again from where you found it.")
        return Problem(HTTPStatus.FORBIDDEN, over)
    if isinstance(error, ArrivalRefused | TicketRefused):
        return Problem(HTTPStatus.FORBIDDEN, error_text(error))
    return problem_of(error)


def _told(request: HttpRequest, problem: Problem) -> HttpResponse:
    return problem_json(problem) if is_script(request) else framed_problem(request, problem)


def in_frame(view: View) -> View:
    """Allow a page in a marketplace's frame, without cookies; translate errors on the way."""

    @csrf_exempt
    @xframe_options_exempt
    @never_cache
    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            response = view(request, *args, **kwargs)
        except ConsentMissing as error:  # the page that asks for it comes instead
            response = _told(request, problem_of(error)) if is_script(request) else redirect("visit", kwargs["token"])
        except TOLD as error:
            response = _told(request, _problem_of(error))
        replaced = {"frame-ancestors": origins() or [NONE], "form-action": [SELF, *origins()]}
        csp_replace(replaced)(lambda _request: response)(request)
        return response

    return wrapped


def framed(request: HttpRequest, template: str, context: Mapping[str, Any], status: int = 200) -> HttpResponse:
    """Render a page without a CSRF cookie or a session, because a frame of another site has no cookies."""
    return render(request, template, {**context, "csrf_token": None, "user": None, "messages": ()}, status=status)


def framed_problem(request: HttpRequest, problem: Problem) -> HttpResponse:
    """Show an error and what to do about it."""
    return framed(request, "workforces/visit/problem.html", {"problem": problem.text}, problem.status)
