"""Access control for the pages of the worker site."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, cast

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from marketplace.models import Worker
from marketplace.throttle import Buckets

P = ParamSpec("P")
_BUCKETS = Buckets(burst_seconds=5.0)


class WorkerRequest(HttpRequest):
    """A request of a worker who is logged in and has agreed to the terms."""

    user: Worker


View = Callable[Concatenate[WorkerRequest, P], HttpResponse]


def worker_page(view: View[P]) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    """Allow only workers who have accepted the terms, and limit their request rate."""

    @wraps(view)
    def guarded(request: WorkerRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not _BUCKETS.take(f"worker {request.user.pk}", rate=settings.MARKETPLACE_WORKER_RATE):
            return render(request, "marketplace/problem.html", {"problem": "busy"}, status=429)
        if request.user.agreed_at is None:
            return redirect("welcome")
        return view(request, *args, **kwargs)

    return cast(Callable[Concatenate[HttpRequest, P], HttpResponse], login_required(guarded))
