"""Pages of the review queue for managers."""

from collections.abc import Callable
from datetime import timedelta

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from accounts.permissions import Action, signed_in
from annotation.access import campaign_for
from annotation.models import Campaign
from quality.dashboard.selectors.review_queue import decisions_of
from quality.examination.services import examine_again
from quality.experts.services.cases import CaseError
from quality.experts.services.opinions import discussion_decide, said_from
from quality.experts.views.cases import discussions_shown
from quality.flags.services import flag_decide
from quality.models import Case, Flag, Review
from quality.people.services.reviews import ReviewError, review_decide
from quality.people.services.suspensions import suspension_appeal_decide
from web.error_texts import error_text
from workforces.models import Appeal, Errand, Ticket
from workforces.services.appeals import AppealError, appeal_decide
from workforces.services.confirmations import ticket_accept
from workforces.services.outbox import errand_retry, errand_undo
from workforces.services.pay import PayError
from workforces.services.refusals import ticket_refuse
from workforces.services.terms import terms_of


@login_required
@require_GET
def decisions(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the pending decisions."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    context = {"campaign": campaign, **decisions_of(campaign)}
    context["discussions"] = discussions_shown(campaign, context["discussions"])
    return render(request, "quality/dashboard/review_queue.html", context)


@login_required
@require_POST
def decide(request: HttpRequest, slug: str, what: str, pk: int) -> HttpResponse:
    """Save one decision with its reason."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    if what not in _DECISIONS:
        raise Http404
    try:
        _DECISIONS[what](request, campaign, pk)
    except (ReviewError, PayError, AppealError, CaseError) as error:
        messages.error(request, error_text(error))
    return redirect("quality-decisions", slug=slug)


def _review(request: HttpRequest, campaign: Campaign, pk: int) -> None:
    review = get_object_or_404(Review, pk=pk, campaign=campaign)
    undo = max((terms_of(row).undo_seconds for row in campaign.workforces.all()), default=0)
    choice = request.POST.get("choice")
    if choice not in ("suspend", "refuse", "reinstate"):
        raise ReviewError("action_missing")
    review_decide(
        review=review,
        suspend=choice != "reinstate",
        refuse_pay=choice == "refuse",
        reason=request.POST.get("reason", ""),
        actor_id=signed_in(request).surrogate_id,
        now=timezone.now(),
        undo_seconds=undo,
    )


def _suspension(request: HttpRequest, campaign: Campaign, pk: int) -> None:
    suspension_appeal_decide(
        review=get_object_or_404(Review, pk=pk, campaign=campaign),
        lift=request.POST.get("choice") == "lift",
        answer=request.POST.get("reason", ""),
        actor_id=signed_in(request).surrogate_id,
        now=timezone.now(),
    )


def _appeal(request: HttpRequest, campaign: Campaign, pk: int) -> None:
    appeal_decide(
        appeal=get_object_or_404(Appeal, pk=pk, campaign=campaign),
        grant=request.POST.get("choice") == "grant",
        answer=request.POST.get("reason", ""),
        actor_id=signed_in(request).surrogate_id,
        now=timezone.now(),
    )


def _ticket(request: HttpRequest, campaign: Campaign, pk: int) -> None:
    ticket = get_object_or_404(Ticket, pk=pk, workforce__campaign=campaign)
    actor_id, now = signed_in(request).surrogate_id, timezone.now()
    if request.POST.get("choice") == "refuse":
        undo = timedelta(seconds=getattr(terms_of(ticket.workforce), "undo_seconds", 0))  # a panel pays by itself
        ticket_refuse(
            ticket=ticket, reason=request.POST.get("reason", ""), actor_id=actor_id, due_at=now + undo, now=now
        )
    else:
        ticket_accept(ticket=ticket, actor_id=actor_id, now=now)


def _undo(request: HttpRequest, campaign: Campaign, pk: int) -> None:
    errand = get_object_or_404(Errand, pk=pk, workforce__campaign=campaign)
    if not errand_undo(errand=errand, actor_id=signed_in(request).surrogate_id, now=timezone.now()):
        raise PayError("errand_sent")


def _retry(request: HttpRequest, campaign: Campaign, pk: int) -> None:
    errand = get_object_or_404(Errand, pk=pk, workforce__campaign=campaign)
    if not errand_retry(errand=errand, actor_id=signed_in(request).surrogate_id, now=timezone.now()):
        raise PayError("errand_decided")


def _flag(request: HttpRequest, campaign: Campaign, pk: int) -> None:
    flag = get_object_or_404(Flag, pk=pk, campaign=campaign)
    listed = request.POST.get("choice") == "list"
    flag_decide(flag=flag, listed=listed, actor_id=signed_in(request).surrogate_id, now=timezone.now())


def _discussion(request: HttpRequest, campaign: Campaign, pk: int) -> None:
    case = get_object_or_404(Case.objects.select_related("campaign"), pk=pk, campaign=campaign)
    discussion_decide(
        case=case,
        said=said_from(case, request.POST),
        justification=request.POST.get("reason", ""),
        actor_id=signed_in(request).surrogate_id,
        now=timezone.now(),
    )


def _examine(request: HttpRequest, campaign: Campaign, pk: int) -> None:
    examine_again(campaign=campaign, actor_id=signed_in(request).surrogate_id, now=timezone.now())


_DECISIONS: dict[str, Callable[[HttpRequest, Campaign, int], None]] = {
    "review": _review,
    "suspension": _suspension,
    "appeal": _appeal,
    "ticket": _ticket,
    "undo": _undo,
    "retry": _retry,
    "flag": _flag,
    "discussion": _discussion,
    "examine": _examine,
}
