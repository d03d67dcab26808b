"""The annotator's pages: one address shows the work, the others each do one thing to it."""

import json
from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.parameters import whole_number
from accounts.permissions import Action, signed_in
from accounts.selectors import consent_is_current
from annotation.models import AnnotationState, Assignment, AssignmentState, Campaign
from annotation.selectors.campaigns import guideline_change
from annotation.selectors.members import member_state
from annotation.selectors.progress import progress_of, submitted_of
from annotation.selectors.recent import may_take_back
from annotation.services import events as event_log
from annotation.services import work as work_services
from annotation.services.campaigns import guideline_read
from annotation.services.claims import Claim, Reason, slot_claim_next, slot_reserve_next, work_refusal
from annotation.services.questions import item_report
from annotation.services.undo import NothingToUndo, OpenedAgain, submission_undo
from annotation.services.work import ConsentMissing, NoSuchAssignment
from annotation.tasktypes.registry import pages_of
from annotation.views.access import campaign_for
from annotation.views.drafts import draft_told
from annotation.views.language import language_speak
from annotation.views.problems import PROBLEMS, Problem, problem_of

View = Callable[..., HttpResponse]


def _shows_problems(view: View) -> View:
    """Translate what can go wrong with an assignment into a page that says what happened and what to do."""

    @wraps(view)
    def wrapped(request: HttpRequest, assignment_id: UUID, **kwargs: Any) -> HttpResponse:
        try:
            _check_member(request, assignment_id)
            return view(request, assignment_id, **kwargs)
        except PROBLEMS as error:
            return _problem_page(request, problem_of(error))

    return wrapped


def _check_member(request: HttpRequest, assignment_id: UUID) -> None:
    """Refuse whose assignment it is not, or who is no annotator any more, as if there were none."""
    user = signed_in(request)
    state = member_state(assignment_id=assignment_id, surrogate_id=user.surrogate_id)
    if state is None or not state.is_annotator or not user.is_active:
        raise NoSuchAssignment
    if not state.has_agreed:  # to a newer text, or no more
        raise ConsentMissing


def _problem_page(request: HttpRequest, problem: Problem) -> HttpResponse:
    if request.headers.get("Accept", "").startswith("application/json"):
        return JsonResponse({"error": problem.text, **problem.data}, status=problem.status)
    template = "annotation/_problem.html" if request.headers.get("HX-Request") else "annotation/problem.html"
    return render(request, template, {"problem": problem.text}, status=problem.status)


def _problem(request: HttpRequest, status: int, text: str) -> HttpResponse:
    return _problem_page(request, Problem(status, text))


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def work(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the work in hand; POST asks for work."""
    campaign = campaign_for(request, slug, Action.ANNOTATE)
    user = signed_in(request)
    now = timezone.now()
    if request.method == "POST":
        claim = slot_claim_next(campaign=campaign, surrogate_id=user.surrogate_id, now=now)
        if claim.assignment is not None and not _is_partial(request):
            return redirect("work", slug=slug)
        return _show(request, campaign, claim, now)
    return _show(request, campaign, _in_hand(campaign, user.surrogate_id), now)


def _in_hand(campaign: Campaign, surrogate_id: UUID) -> Claim:
    """Return what a person is at work on, if anything; it is shown to those who agree to the current consent text."""
    own = Assignment.objects.filter(campaign=campaign, surrogate_id=surrogate_id, state=AssignmentState.LIVE)
    live = own.select_related("item__tokenization__document").first()
    if live is None:
        reason = work_refusal(campaign=campaign, surrogate_id=surrogate_id)
        return Claim(None, None if reason is Reason.CONSENT_NEEDED else reason)  # which is asked for when they begin
    if not consent_is_current(scope_id=campaign.pk, surrogate_id=surrogate_id):
        return Claim(None, Reason.CONSENT_NEEDED)
    return Claim(live, is_unread=True)  # as far as is known yet


@login_required
@require_POST
def guidelines_read(request: HttpRequest, slug: str) -> HttpResponse:
    """Take an annotator's word that they read what changed in the guidelines, and go on with their item."""
    campaign = campaign_for(request, slug, Action.ANNOTATE)
    surrogate_id = signed_in(request).surrogate_id
    guideline_read(campaign=campaign, surrogate_id=surrogate_id, version=_version(request))
    return _after(request, campaign, _in_hand(campaign, surrogate_id), timezone.now())


def _show(request: HttpRequest, campaign: Campaign, claim: Claim, now: datetime, *, undo: bool = False) -> HttpResponse:
    """Render the stage an assignment stands at, or why there is no work."""
    language_speak(request, campaign)
    if claim.reason is Reason.CONSENT_NEEDED:
        if _is_partial(request):
            return HttpResponse(headers={"HX-Redirect": reverse("consent", args=[campaign.slug])})
        return redirect("consent", slug=campaign.slug)
    if claim.reason is Reason.TRAINING_NEEDED:
        if _is_partial(request):
            return HttpResponse(headers={"HX-Redirect": reverse("training", args=[campaign.slug])})
        return redirect("training", slug=campaign.slug)
    pages = pages_of(campaign.task_type)
    surrogate_id = signed_in(request).surrogate_id
    context: dict[str, Any] = {"campaign": campaign, "claim": claim, "now": now, "pages": pages}
    if _is_partial(request):
        context["done"] = submitted_of(campaign, surrogate_id) if claim.submitted is None else claim.submitted
    else:
        [progress] = progress_of([campaign], surrogate_id)
        # Not beside an answer that is open again: taking back another one would lose its place.
        undo = may_take_back(campaign, surrogate_id, now) and not _is_again(claim)
        context |= {"progress": progress, "done": progress.submitted}
    change = guideline_change(campaign, surrogate_id) if claim.assignment is not None and claim.is_unread else None
    if claim.assignment is None:
        template = "annotation/_no_work.html"
        context["today"] = _today(campaign, surrogate_id, now)
        context["urls"] = {"undo": _undo_url(campaign, undo=undo), "partial": True}
    elif change is not None:
        template = "annotation/_changed.html"
        context |= {"change": change, "urls": {"undo": _undo_url(campaign, undo=undo), "partial": True}}
    else:
        template, more = pages.stage(claim.assignment)
        context |= more | {"urls": _urls(campaign, claim.assignment, undo=undo)}
    context["stage_template"] = template
    page = "annotation/_work.html" if _is_partial(request) else "annotation/work.html"
    return render(request, page, context)


def _is_again(claim: Claim) -> bool:
    return claim.assignment is not None and "again" in claim.assignment.draft


def _urls(campaign: Campaign, assignment: Assignment, *, undo: bool) -> dict[str, Any]:
    """Return where the controls of a stage lead to."""
    names = ("stage", "back", "draft", "submit", "skip", "report", "extend", "events")
    own: dict[str, Any] = {name: reverse(name, args=[assignment.pk]) for name in names}
    own |= {"reserve": reverse("reserve", args=[campaign.slug]), "partial": True}
    return own | {"undo": _undo_url(campaign, undo=undo)}


def _undo_url(campaign: Campaign, *, undo: bool) -> str:
    """Return where the last submission is taken back, if it can be."""
    return reverse("undo", args=[campaign.slug]) if undo else ""


def _today(campaign: Campaign, surrogate_id: UUID, now: datetime) -> int:
    """Return how many items a person submitted since midnight (UTC), up to a thousand."""
    day = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    own = campaign.annotations.filter(surrogate_id=surrogate_id, submitted_at__gte=day)
    own = own.exclude(state=AnnotationState.UNDONE).order_by("-pk")[:1000]
    return len(own.values_list("pk", flat=True))


def _is_partial(request: HttpRequest) -> bool:
    return bool(request.headers.get("HX-Request"))


@login_required
@require_POST
@_shows_problems
def stage(request: HttpRequest, assignment_id: UUID) -> HttpResponse:
    """Take one stage's answer; the last stage submits and brings the next item."""
    now = timezone.now()
    taken = work_services.answer_take(
        assignment_id=assignment_id,
        surrogate_id=signed_in(request).surrogate_id,
        stage=request.POST.get("stage", ""),
        sent=request.POST.dict(),
        version=_version(request),
        now=now,
    )
    return _taken(request, taken, now)


def _taken(request: HttpRequest, taken: work_services.Taken, now: datetime) -> HttpResponse:
    """Show the next stage, or after the last one the next item."""
    campaign = taken.assignment.campaign
    if taken.annotation is None or taken.next is None:
        return _after(request, campaign, Claim(taken.assignment), now)
    if taken.annotation.state == AnnotationState.LATE:
        messages.warning(
            request,
            _(
                "The time had run out, so this answer is kept but does not count towards the dataset. Thank you all the same."
            ),
        )
    return _after(request, campaign, taken.next, now, undo=taken.annotation.state == AnnotationState.COUNTED)


def _version(request: HttpRequest) -> int:
    return whole_number(request.POST.get("version"), -1)


def _after(
    request: HttpRequest, campaign: Campaign, claim: Claim, now: datetime, *, undo: bool = False
) -> HttpResponse:
    if _is_partial(request) or claim.assignment is None:  # why there is nothing is known only now
        return _show(request, campaign, claim, now, undo=undo)
    return redirect("work", slug=campaign.slug)


@login_required
@require_POST
@_shows_problems
def submit(request: HttpRequest, assignment_id: UUID) -> HttpResponse:
    """Submit a finished draft and bring the next item."""
    now = timezone.now()
    taken = work_services.assignment_submit(
        assignment_id=assignment_id, surrogate_id=signed_in(request).surrogate_id, now=now
    )
    return _taken(request, taken, now)


@login_required
@require_POST
def undo(request: HttpRequest, slug: str) -> HttpResponse:
    """Give the last item back to be answered again."""
    campaign = campaign_for(request, slug, Action.ANNOTATE)
    now = timezone.now()
    try:
        claim = submission_undo(campaign=campaign, surrogate_id=signed_in(request).surrogate_id, now=now)
    except (NothingToUndo, OpenedAgain) as error:
        return _problem_page(request, problem_of(error))
    return _after(request, campaign, claim, now)


@login_required
@require_POST
@_shows_problems
def back(request: HttpRequest, assignment_id: UUID) -> HttpResponse:
    """Open the stage before again."""
    now = timezone.now()
    assignment = work_services.stage_back(
        assignment_id=assignment_id, surrogate_id=signed_in(request).surrogate_id, version=_version(request), now=now
    )
    return _after(request, assignment.campaign, Claim(assignment), now)


@login_required
@require_POST
@_shows_problems
def draft(request: HttpRequest, assignment_id: UUID) -> HttpResponse:
    """Keep what is marked but not confirmed."""
    assignment = work_services.draft_save(
        assignment_id=assignment_id,
        surrogate_id=signed_in(request).surrogate_id,
        suggestion=request.POST.dict(),
        version=_version(request),
    )
    language_speak(request, assignment.campaign)
    return JsonResponse(draft_told(assignment))


@login_required
@require_POST
@_shows_problems
def skip(request: HttpRequest, assignment_id: UUID) -> HttpResponse:
    """Give an item back and bring the next."""
    now = timezone.now()
    surrogate_id = signed_in(request).surrogate_id
    assignment = work_services.assignment_of(assignment_id=assignment_id, surrogate_id=surrogate_id)
    try:
        claim = work_services.assignment_skip(
            assignment_id=assignment_id,
            surrogate_id=surrogate_id,
            reason=request.POST.get("reason", ""),
            note=request.POST.get("note", ""),
            now=now,
        )
    except ValueError:
        return _problem(request, 422, _("Choose why you skip this item."))
    return _after(request, assignment.campaign, claim, now)


@login_required
@require_POST
@_shows_problems
def report(request: HttpRequest, assignment_id: UUID) -> HttpResponse:
    """Tell the managers that something is wrong with an item."""
    text = request.POST.get("text", "").strip()
    if not text:
        return _problem(request, 422, _("Say in a few words what is wrong."))
    surrogate_id = signed_in(request).surrogate_id
    if not item_report(assignment_id=assignment_id, surrogate_id=surrogate_id, text=text, now=timezone.now()):
        return _problem(
            request, 409, _("You wrote several times about this item: the managers will look at those first.")
        )
    if _is_partial(request):
        return render(request, "annotation/_reported.html")
    messages.success(request, _("Thank you: the managers will look at this item."))
    assignment = work_services.assignment_of(assignment_id=assignment_id, surrogate_id=surrogate_id)
    return redirect("work", slug=assignment.campaign.slug)


@login_required
@require_POST
@_shows_problems
def extend(request: HttpRequest, assignment_id: UUID) -> HttpResponse:
    """Give more time."""
    deadline_at = work_services.deadline_extend(
        assignment_id=assignment_id, surrogate_id=signed_in(request).surrogate_id, now=timezone.now()
    )
    return JsonResponse({"deadline_at": deadline_at.isoformat()})


@login_required
@require_POST
@_shows_problems
def events(request: HttpRequest, assignment_id: UUID) -> HttpResponse:
    """Store a piece of the click log."""
    sent = events_sent(request)
    if sent is not None:
        event_log.events_store(
            assignment_id=assignment_id,
            surrogate_id=signed_in(request).surrogate_id,
            sequence=sent[0],
            events=sent[1],
            now=timezone.now(),
        )
    return HttpResponse(status=204)


def events_sent(request: HttpRequest) -> tuple[int, list[Any]] | None:
    """Return (sequence, events) of a piece of the click log; None for what is malformed, never an error."""
    sequence = whole_number(request.POST.get("sequence"), -1)
    try:
        sent = json.loads(request.POST.get("events", "[]"))
    except (ValueError, RecursionError):
        return None
    return (sequence, sent) if isinstance(sent, list) and sequence >= 0 else None


@login_required
@require_POST
def reserve(request: HttpRequest, slug: str) -> HttpResponse:
    """Hold the next item for a short while. The answer says only whether there is one."""
    campaign = campaign_for(request, slug, Action.ANNOTATE)
    held = slot_reserve_next(campaign=campaign, surrogate_id=signed_in(request).surrogate_id, now=timezone.now())
    return JsonResponse({"held": held})
