"""The desk for people with an account: their session identifies them, and htmx replaces only the work area."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cached_property, wraps
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

from accounts.permissions import Action, signed_in
from accounts.selectors import consent_is_current
from annotation.access import campaign_for
from annotation.desk import actions, pages
from annotation.desk.problems import PROBLEMS, Problem, problem_of
from annotation.desk.seats import Seat, Step
from annotation.models import AnnotationState, Assignment, AssignmentState, Campaign
from annotation.people.selectors.members import member_state
from annotation.people.selectors.progress import progress_of, submitted_of, submitted_today
from annotation.people.services.training import Lesson, lesson_answer
from annotation.slots.services.claims import Claim, Reason, slot_claim_next, slot_reserve_next, work_refusal
from annotation.tasktypes.registry import pages_of
from annotation.work.selectors import may_take_back
from annotation.work.services.assignments import ConsentMissing, NoSuchAssignment
from annotation.work.services.submissions import Taken, answer_take, assignment_skip, assignment_submit
from annotation.work.services.undo import submission_undo

View = Callable[..., HttpResponse]
OF_CAMPAIGN = ("work", "consent", "training", "guidelines", "guidelines-read", "reserve", "undo")


class MemberSeat(Seat):
    """An annotator with an account, in a campaign or at one of its assignments."""

    frame = "base.html"
    desk_frame = "annotation/desk/member.html"
    head_template = "_messages.html"

    def __init__(self, request: HttpRequest, campaign: Campaign | None = None) -> None:
        super().__init__(request)
        if campaign is not None:
            self.campaign = campaign
        self._assignment_id: UUID | None = None

    @cached_property
    def campaign(self) -> Campaign:  # type: ignore[override]  # read when an action has not brought it along
        """The campaign of the assignment that was checked by `prove`."""
        return Campaign.objects.get(assignments=self._assignment_id)

    @property
    def is_partial(self) -> bool:
        """Whether htmx requests the work area alone."""
        return bool(self.request.headers.get("HX-Request"))

    @property
    def surrogate_id(self) -> UUID:
        """The surrogate of the logged-in person."""
        return signed_in(self.request).surrogate_id

    def prove(self, assignment_id: UUID) -> None:
        """Refuse another person's assignment, or a person who isn't an annotator any more, as if it didn't exist."""
        self._assignment_id = assignment_id
        state = member_state(assignment_id=assignment_id, surrogate_id=self.surrogate_id)
        if state is None or not state.is_annotator or not signed_in(self.request).is_active:
            raise NoSuchAssignment
        if not state.has_agreed:  # to a newer text, or no more
            raise ConsentMissing

    def address(self, action: str, assignment: Assignment | None = None) -> str:
        """Return the address of an action."""
        if action == "start":  # claims at once, so it is sent
            return reverse("work", args=[self.campaign.slug])
        if action == "next":
            action = "training"
        if action == "guidelines":
            return reverse("work-guidelines", args=[self.campaign.slug])
        if assignment is None:
            return reverse(action, args=[self.campaign.slug]) if action in OF_CAMPAIGN else ""
        return reverse(action, args=[assignment.pk])

    def answer(self, assignment_id: UUID, *, stage: str, sent: dict[str, Any], version: int, now: datetime) -> Step:
        """Take an answer; after the last stage the next item is claimed in the same transaction."""
        return self._taken(
            answer_take(
                assignment_id=assignment_id,
                surrogate_id=self.surrogate_id,
                stage=stage,
                sent=sent,
                version=version,
                now=now,
            )
        )

    def submit(self, assignment_id: UUID, *, now: datetime) -> Step:
        """Submit a finished draft, and claim the next item."""
        return self._taken(assignment_submit(assignment_id=assignment_id, surrogate_id=self.surrogate_id, now=now))

    def _taken(self, taken: Taken) -> Step:
        """Return the next stage, or after the last one the next item."""
        self.campaign = taken.assignment.campaign
        if taken.annotation is None or taken.next is None:
            return Step(Claim(taken.assignment))
        if taken.annotation.state == AnnotationState.LATE:
            late = _(
                "The time limit for this item had passed. Your answer is saved but won't be part of the dataset. Thank you."
            )
            messages.warning(self.request, late)
        return Step(taken.next, undo=taken.annotation.state == AnnotationState.COUNTED)

    def skip(self, assignment_id: UUID, *, reason: str, note: str, now: datetime) -> Step:
        """Give an item back, and claim the next."""
        return Step(
            assignment_skip(
                assignment_id=assignment_id, surrogate_id=self.surrogate_id, reason=reason, note=note, now=now
            )
        )

    def learn(self, *, number: int, sent: Mapping[str, Any], now: datetime) -> Lesson | None:
        """Take an answer to a training example."""
        return lesson_answer(campaign=self.campaign, surrogate_id=self.surrogate_id, number=number, sent=sent, now=now)

    def go_on(self, step: Step, now: datetime) -> HttpResponse:
        """Show why there is no item, which is known only now; else show the next item to htmx or redirect to it."""
        if self.is_partial or step.claim.assignment is None:
            return pages.show(self, step, now)
        return redirect("work", slug=self.campaign.slug)

    def ask_consent(self) -> HttpResponse:
        """Go to the page that asks for consent."""
        return self._go(self.address("consent"))

    def teach(self) -> HttpResponse:
        """Go to the training round."""
        return self._go(self.address("training"))

    def _go(self, address: str) -> HttpResponse:
        return HttpResponse(headers={"HX-Redirect": address}) if self.is_partial else redirect(address)

    def no_work(self, step: Step, now: datetime) -> HttpResponse:
        """Say why there is no item, or offer to start."""
        extras = self.extras(step)
        context = {
            "claim": step.claim,
            "pages": pages_of(self.campaign.task_type),
            "today": submitted_today(self.campaign, self.surrogate_id, now),
            "urls": {"undo": self.address("undo") if self.may_undo(step) else "", "partial": True},
        }
        return pages.work_page(self, "annotation/_no_work.html", context | extras)

    def extras(self, step: Step) -> dict[str, Any]:
        """Return the person's progress; for a part of a page, only their number of submitted items."""
        if self.is_partial:
            known = step.claim.submitted
            return {"done": submitted_of(self.campaign, self.surrogate_id) if known is None else known}
        [progress] = progress_of([self.campaign], self.surrogate_id)
        return {"progress": progress, "done": progress.submitted}

    def may_undo(self, step: Step) -> bool:
        """Return whether the last answer can be taken back; for a whole page, this is read from the database.

        Not while another reopened answer is open: taking back a second one would lose the slot of the first.
        """
        if self.is_partial:
            return step.undo
        held = step.claim.assignment
        is_again = held is not None and "again" in held.draft
        return not is_again and may_take_back(self.campaign, self.surrogate_id, timezone.now())

    def page(self, template: str, context: Mapping[str, Any], status: int = 200) -> HttpResponse:
        """Render a page in the site."""
        return render(self.request, template, {"seat": self, **context}, status=status)

    def problem_page(self, problem: Problem) -> HttpResponse:
        """Render a problem; for htmx, as a part of the page."""
        template = "annotation/_problem.html" if self.is_partial else "annotation/problem.html"
        return self.page(template, {"problem": problem.text}, problem.status)


def at_assignment(action: actions.Action) -> View:
    """Make an action on an assignment a view for people who are logged in."""

    @login_required
    @require_POST
    @wraps(action)
    def view(request: HttpRequest, assignment_id: UUID) -> HttpResponse:
        seat = MemberSeat(request)
        try:
            seat.prove(assignment_id)
            return action(seat, assignment_id)
        except PROBLEMS as error:
            return seat.problem(problem_of(error))

    return view


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def work(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the current item; POST requests one."""
    seat = MemberSeat(request, campaign_for(request, slug, Action.ANNOTATE))
    now = timezone.now()
    if request.method == "POST":
        return seat.go_on(Step(slot_claim_next(campaign=seat.campaign, surrogate_id=seat.surrogate_id, now=now)), now)
    return pages.show(seat, Step(_in_hand(seat.campaign, seat.surrogate_id)), now)


def _in_hand(campaign: Campaign, surrogate_id: UUID) -> Claim:
    """Return a person's current assignment, if any; it is shown only after consent to the current text."""
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
    """Record that an annotator confirmed reading the changes in the guidelines, then show their item."""
    seat = MemberSeat(request, campaign_for(request, slug, Action.ANNOTATE))
    actions.guidelines_read(seat)
    return seat.go_on(Step(_in_hand(seat.campaign, seat.surrogate_id)), timezone.now())


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def training(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the introduction, then one example after the other, with feedback."""
    seat = MemberSeat(request, campaign_for(request, slug, Action.ANNOTATE))
    if not consent_is_current(scope_id=seat.campaign.pk, surrogate_id=seat.surrogate_id):
        return seat.ask_consent()
    return pages.learn(seat, timezone.now()) if request.method == "POST" else pages.lesson_page(seat)


@login_required
@require_POST
def undo(request: HttpRequest, slug: str) -> HttpResponse:
    """Give the last item back to be answered again."""
    seat = MemberSeat(request, campaign_for(request, slug, Action.ANNOTATE))
    now = timezone.now()
    try:
        claim = submission_undo(campaign=seat.campaign, surrogate_id=seat.surrogate_id, now=now)
    except PROBLEMS as error:
        return seat.problem(problem_of(error))
    return seat.go_on(Step(claim), now)


@login_required
@require_POST
def reserve(request: HttpRequest, slug: str) -> HttpResponse:
    """Hold the next item for a short while. The answer says only whether there is one."""
    campaign = campaign_for(request, slug, Action.ANNOTATE)
    held = slot_reserve_next(campaign=campaign, surrogate_id=signed_in(request).surrogate_id, now=timezone.now())
    return JsonResponse({"held": held})
