"""Find, preview, accept, do and return HITs."""

from dataclasses import asdict
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from database.statements import Statement
from marketplace import clock, selectors
from marketplace.models import Assignment, Hit, Worker
from marketplace.services.assignments import WorkRefused, assignment_accept, assignment_return
from marketplace.services.due import AT_MOST_BEFORE_AN_ANSWER, due_carry_out
from marketplace.services.standing import is_blocked, unmet_for
from marketplace.templatetags.marketplace import duration
from marketplace.views.access import WorkerRequest, worker_page
from marketplace.views.frames import Frame, frame_for
from marketplace.views.words import COMPARATORS, REFUSALS, SYSTEM_NAMES

State = Assignment.State
_OWN = Statement(
    lambda worker, pk: Assignment.objects.select_related("hit__hit_type", "requester").filter(worker_id=worker, pk=pk),
    int,
    int,
)


@worker_page
def listing(request: WorkerRequest) -> HttpResponse:
    """Show the groups of open HITs."""
    chosen: dict[str, Any] = {
        "search": request.GET.get("q", "")[:100],
        "sort": request.GET.get("sort") if request.GET.get("sort") in selectors.SORTS else "newest",
        "qualified_only": "qualified" in request.GET,
    }
    page = _whole(request.GET.get("page"))
    least = _amount(request.GET.get("least", ""))
    found, more = selectors.groups(request.user, now=clock.now(), least=least, page=page, **chosen)
    context = {
        **chosen,
        "groups": list(map(_card, found)),
        "more": more,
        "page": page,
        "least": request.GET.get("least", ""),
    }
    query = request.GET.copy()
    query.pop("page", None)
    return render(request, "marketplace/listing.html", {**context, "query": query.urlencode(), "next_page": page + 1})


@require_safe
@worker_page
def preview(request: WorkerRequest, hit_id: str) -> HttpResponse:
    """Show a HIT before it is accepted, if previews are allowed."""
    hit = _hit(hit_id)
    mine = hit.assignments.filter(worker=request.user, state=State.ACCEPTED).first()
    if mine is not None:
        return redirect("work", pk=mine.pk)
    needs = hit.hit_type.requirements
    if unmet_for(request.user, needs, "Discover"):
        raise Http404
    hidden = bool(unmet_for(request.user, needs, "Preview")) or is_blocked(request.user, hit.hit_type)
    frame = None if hidden else frame_for(hit)
    context = {
        "hit": hit,
        "frame": frame,
        "needs": _needs(request, hit),
        "may_accept": not unmet_for(request.user, needs, "Accept") and not is_blocked(request.user, hit.hit_type),
        "is_open": hit.state == Hit.State.ASSIGNABLE and hit.expires_at > clock.now(),
        "standing": selectors.requester_standing(hit.requester),
    }
    return _with_frame(render(request, "marketplace/preview.html", context), frame)


@require_POST
@worker_page
def accept(request: WorkerRequest, hit_id: str) -> HttpResponse:
    """Accept a HIT."""
    try:
        assignment = assignment_accept(
            hit_id=hit_id, worker=request.user, now=clock.now(), group_id=request.POST.get("group", "")
        )
    except WorkRefused as refusal:
        messages.warning(request, REFUSALS[refusal.reason])
        if refusal.reason == "changed":
            return redirect("preview", hit_id=hit_id)
        return redirect("work-mine" if refusal.reason in ("held", "too_many") else "home")
    return redirect("work", pk=assignment.pk)


@require_POST
@worker_page
def accept_next(request: WorkerRequest, group_id: str) -> HttpResponse:
    """Accept the next HIT of a group."""
    taken, reason = _next_of(request.user, group_id)
    if taken is not None:
        return redirect("work", pk=taken.pk)
    messages.info(request, REFUSALS[reason])
    return redirect("home")


def _next_of(worker: Worker, group_id: str) -> tuple[Assignment | None, str]:
    """Accept the next HIT of a group, or the one after it if another worker is faster; without one, say why."""
    reason = "nothing"
    for _attempt in range(20):
        hit = selectors.next_hit(worker, group_id, clock.now())
        if hit is None:
            break
        try:
            return assignment_accept(hit_id=hit.hit_id, worker=worker, now=clock.now(), group_id=group_id), ""
        except WorkRefused as refusal:
            reason = refusal.reason
            if reason not in ("full", "gone", "changed"):
                break
    return None, reason


@require_safe
@worker_page
def mine(request: WorkerRequest) -> HttpResponse:
    """Show the worker's accepted HITs."""
    rows = request.user.assignments.filter(state=State.ACCEPTED, deadline_at__gt=clock.now())
    rows = rows.select_related("hit__hit_type", "requester").order_by("deadline_at", "pk")
    return render(request, "marketplace/mine.html", {"assignments": rows})


@require_safe
@worker_page
def work(request: WorkerRequest, pk: int) -> HttpResponse:
    """Show an accepted HIT in its frame, or its outcome."""
    assignment = _current(request, pk)
    if assignment.state != State.ACCEPTED:
        left = selectors.next_hit(request.user, assignment.hit.hit_type.group_id, clock.now())
        return render(
            request, "marketplace/after.html", {"assignment": assignment, "hit": assignment.hit, "left": left}
        )
    frame = frame_for(assignment.hit, assignment)
    context = {
        "assignment": assignment,
        "hit": assignment.hit,
        "frame": frame,
        "seconds_left": _seconds_left(assignment),
        "auto": "auto" in request.GET,
    }
    return _with_frame(render(request, "marketplace/work.html", context), frame)


@require_safe
@worker_page
def state(request: WorkerRequest, pk: int) -> HttpResponse:
    """Return the state of an assignment, for the page around the frame."""
    assignment = _current(request, pk)
    return JsonResponse({"state": assignment.state, "seconds_left": _seconds_left(assignment)})


@require_POST
@worker_page
def auto_accept(request: WorkerRequest, pk: int) -> HttpResponse:
    """Accept the next HIT of the group after an assignment was submitted; until then, return the assignment's state.

    The page around the frame asks this, and shows the next HIT in place of the submitted one. With ``again``, the response to the previous request
    was lost, so a HIT that was accepted since the submission is returned instead of another one. If none is left, ``go``
    is the page that says so.
    """
    assignment = _current(request, pk)
    if assignment.state in (State.ACCEPTED, State.RETURNED, State.ABANDONED):
        return JsonResponse({"state": assignment.state, "seconds_left": _seconds_left(assignment)})
    group_id = assignment.hit.hit_type.group_id
    following = selectors.accepted_after(assignment) if request.POST.get("again") else None
    reason = ""
    if following is None:
        following, reason = _next_of(request.user, group_id)
    if following is None:
        messages.success(request, _("Submitted"))  # nobody has told them yet: the page went on by itself
        messages.info(request, REFUSALS[reason])
        return JsonResponse({"state": assignment.state, "go": reverse("home")})
    frame = frame_for(following.hit, following)
    return JsonResponse(
        {
            "state": assignment.state,
            "next": {
                "page": f"{reverse('work', args=[following.pk])}?auto=1",
                "state": reverse("work-state", args=[following.pk]),
                "auto_accept": reverse("work-next", args=[following.pk]),
                "give_back": reverse("work-return", args=[following.pk]),
                "deadline": following.deadline_at.isoformat(),
                "seconds_left": _seconds_left(following),
                "frame": asdict(frame),
            },
        }
    )


@require_POST
@worker_page
def give_back(request: WorkerRequest, pk: int) -> HttpResponse:
    """Return an accepted HIT."""
    assignment = _current(request, pk)
    assignment_return(assignment_pk=assignment.pk, worker=request.user, now=clock.now())
    return redirect("work", pk=pk)


def _card(group: selectors.Group) -> dict[str, str]:
    """Return a group's texts for the list; template tags for twenty cards would take longer than finding the groups."""
    kind = group.hit_type
    return {
        "title": kind.title,
        "description": Truncator(kind.description).chars(200),
        "reward": str(kind.reward),
        "available": _("%(count)s available") % {"count": group.shown_available},
        "time": _("%(time)s allowed") % {"time": duration(kind.assignment_seconds)},
        "requester_name": kind.requester.name,
        "requester": reverse("requester", args=[kind.requester.customer_id]),
        "preview": reverse("preview", args=[group.hit_id]),
        "accept": reverse("accept-next", args=[kind.group_id]) if group.is_qualified else "",
    }


def _hit(hit_id: str) -> Hit:
    return get_object_or_404(Hit.objects.select_related("hit_type", "requester"), hit_id=hit_id)


def _current(request: WorkerRequest, pk: int) -> Assignment:
    """Return an assignment of this worker, after applying its HIT's due events."""
    assignment: Assignment | None = _OWN.first(request.user.pk, pk)
    if assignment is None:
        raise Http404
    due_at = assignment.hit.due_at
    if due_at is not None and due_at <= clock.now():
        due_carry_out(now=clock.now(), worker=request.user, most=AT_MOST_BEFORE_AN_ANSWER)
        assignment = _OWN.first(request.user.pk, pk)
        assert assignment is not None
    return assignment


def _needs(request: WorkerRequest, hit: Hit) -> list[dict[str, Any]]:
    return [
        {
            "need": need,
            "name": SYSTEM_NAMES.get(need.name, need.name),
            "comparator": COMPARATORS[need.comparator],
        }
        for need in selectors.needs(request.user, hit.hit_type)
    ]


def _seconds_left(assignment: Assignment) -> int:
    return int((assignment.deadline_at - clock.now()).total_seconds())


def _with_frame(response: HttpResponse, frame: Frame | None) -> HttpResponse:
    """Allow this page to frame the task, its https redirects, and the response to its form."""
    if frame is not None:
        parts = urlsplit(frame.url)
        origin, submit = f"{parts.scheme}://{parts.netloc}", f"{settings.MARKETPLACE_URL}/s/"
        response._csp_update = {"frame-src": ["https:", origin, submit]}  # type: ignore[attr-defined]  # noqa: SLF001 - django-csp's documented way
    return response


def _whole(text: str | None) -> int:
    return min(int(text), 1000) if text and text.isdecimal() and len(text) < 6 else 0


def _amount(text: str) -> Decimal | None:
    try:
        value = Decimal(text).quantize(Decimal("0.01"))
    except InvalidOperation:
        return None
    return value if value.is_finite() and 0 <= value < 10**9 else None
