"""Workers' own pages, and requesters' pages as shown to workers."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from marketplace import clock, selectors
from marketplace.adapter import INVITATION_KEY
from marketplace.forms import ProfileForm
from marketplace.models import Requester
from marketplace.services.standing import worker_record
from marketplace.services.workers import invitation_is_usable, messages_read, token_hash, worker_agree, worker_update
from marketplace.views.access import WorkerRequest, worker_page


@require_safe
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Open the sign-up form through an invitation."""
    token_sha256 = token_hash(token)
    if not invitation_is_usable(token_sha256=token_sha256, now=clock.now()):
        return render(request, "marketplace/problem.html", {"problem": "invitation"}, status=404)
    request.session[INVITATION_KEY] = token_sha256
    return redirect("account_signup")


@login_required
@require_http_methods(["GET", "POST"])
def welcome(request: WorkerRequest) -> HttpResponse:
    """Show the terms of work before the first HIT."""
    if request.method == "POST":
        worker_agree(worker=request.user, now=clock.now())
        return redirect("home")
    return render(request, "marketplace/welcome.html")


@require_http_methods(["GET", "POST"])
@worker_page
def profile(request: WorkerRequest) -> HttpResponse:
    """Show and change the profile data that requirements refer to."""
    form = ProfileForm(request.POST or None, instance=request.user)
    if request.method == "POST" and form.is_valid():
        worker_update(worker=request.user, **form.cleaned_data)
        messages.success(request, _("Saved."))
        return redirect("profile")
    return render(request, "marketplace/profile.html", {"form": form, "record": worker_record(request.user)})


@require_safe
@worker_page
def messages_page(request: WorkerRequest) -> HttpResponse:
    """Show messages, newest first, and mark them as read."""
    rows = list(request.user.messages_received.select_related("requester").order_by("-pk")[:50])
    response = render(request, "marketplace/messages.html", {"rows": rows})
    messages_read(worker=request.user, now=clock.now())
    return response


@require_safe
@worker_page
def requester(request: WorkerRequest, customer_id: str) -> HttpResponse:
    """Show a requester's decisions and pay."""
    found = get_object_or_404(Requester, customer_id=customer_id)
    mine = request.user.assignments.filter(requester=found, state__in=["Submitted", "Approved", "Rejected"])
    context = {
        "requester": found,
        "standing": selectors.requester_standing(found),
        "mine": mine.select_related("hit__hit_type").order_by("-pk")[:20],
    }
    return render(request, "marketplace/requester.html", context)
