"""Pages of quality control: how it stands, what waits for a decision, and the desks of inspectors and experts."""

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.parameters import whole_number
from accounts.permissions import Action, signed_in
from annotation.models import ORDINARY, Campaign, Item, ItemState
from annotation.tasktypes.base import Voted
from annotation.tasktypes.registry import TASK_TYPES, pages_of
from annotation.views.access import campaign_for
from quality.models import Case, Flag, Inspection, InspectionVerdict, QualitySnapshot, Review
from quality.rules.policy import Policy
from quality.selectors.decisions import decisions_of, names_of
from quality.selectors.policies import policy_current
from quality.services.adjudication import CaseError, case_next, opinion_give
from quality.services.examine import examine_again
from quality.services.flags import flag_decide
from quality.services.inspections import inspection_decide, inspection_next
from quality.services.numbers import quality_numbers_request
from quality.services.people import ReviewError, review_decide
from workforces.forms import LinkForm, MTurkForm, PanelListForm
from workforces.models import Appeal, Errand, Ticket, Workforce, WorkforceKind
from workforces.money import Estimate, estimate
from workforces.selectors import workforces_shown
from workforces.services.appeals import AppealError, appeal_decide
from workforces.services.confirmations import ticket_accept
from workforces.services.outbox import errand_retry, errand_undo
from workforces.services.pay import PayError, ticket_refuse
from workforces.services.terms import terms_of
from workforces.services.workforces import workforce_add

View = Callable[..., HttpResponse]


def _of_votes(action: Action) -> Callable[[View], View]:
    """Make a view one of campaigns with a vote; of others it says why there is nothing to see."""

    def decorate(view: View) -> View:
        @login_required
        @wraps(view)
        def wrapped(request: HttpRequest, slug: str) -> HttpResponse:
            campaign = campaign_for(request, slug, action)
            task_type = TASK_TYPES[campaign.task_type]
            if not isinstance(task_type, Voted):
                return render(request, "quality/no_vote.html", {"campaign": campaign, "task_type": task_type.title})
            return view(request, campaign)

        return wrapped

    return decorate


@_of_votes(Action.MANAGE)
@require_GET
def overview(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show how it stands, from numbers that a job computed."""
    quality_numbers_request(campaign=campaign, now=timezone.now())
    snapshot = QualitySnapshot.objects.filter(campaign=campaign).first()
    context: dict[str, Any] = {"campaign": campaign, "snapshot": snapshot}
    if snapshot is not None:
        people = snapshot.data.get("people", [])[:200]
        names = {str(key): name for key, name in names_of([row["surrogate_id"] for row in people]).items()}
        context |= snapshot.data | {"people": [{**row, "name": names.get(row["surrogate_id"], "")} for row in people]}
    return render(request, "quality/overview.html", context)


@login_required
@require_GET
def decisions(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what waits for a decision."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    return render(request, "quality/decisions.html", {"campaign": campaign, **decisions_of(campaign)})


@login_required
@require_POST
def decide(request: HttpRequest, slug: str, what: str, pk: int) -> HttpResponse:
    """Take one decision; the reason goes with it."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    if what not in _DECISIONS:
        raise Http404
    try:
        _DECISIONS[what](request, campaign, pk)
    except (ReviewError, PayError, AppealError) as error:
        messages.error(request, str(error))
    return redirect("quality-decisions", slug=slug)


def _review(request: HttpRequest, campaign: Campaign, pk: int) -> None:
    review = get_object_or_404(Review, pk=pk, campaign=campaign)
    undo = max((terms_of(row).undo_seconds for row in campaign.workforces.filter(kind=WorkforceKind.MTURK)), default=0)
    choice = request.POST.get("choice")
    if choice not in ("suspend", "refuse", "reinstate"):
        raise ReviewError(_("Choose what to do."))
    review_decide(
        review=review, suspend=choice != "reinstate", refuse_pay=choice == "refuse",
        reason=request.POST.get("reason", ""), actor_id=signed_in(request).surrogate_id, now=timezone.now(),
        undo_seconds=undo,
    )  # fmt: skip


def _appeal(request: HttpRequest, campaign: Campaign, pk: int) -> None:
    appeal_decide(
        appeal=get_object_or_404(Appeal, pk=pk, campaign=campaign), grant=request.POST.get("choice") == "grant",
        answer=request.POST.get("reason", ""), actor_id=signed_in(request).surrogate_id, now=timezone.now(),
    )  # fmt: skip


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
        raise PayError(_("It was sent already."))


def _retry(request: HttpRequest, campaign: Campaign, pk: int) -> None:
    errand = get_object_or_404(Errand, pk=pk, workforce__campaign=campaign)
    errand_retry(errand=errand, actor_id=signed_in(request).surrogate_id, now=timezone.now())


def _flag(request: HttpRequest, campaign: Campaign, pk: int) -> None:
    flag = get_object_or_404(Flag, pk=pk, campaign=campaign)
    listed = request.POST.get("choice") == "list"
    flag_decide(flag=flag, listed=listed, actor_id=signed_in(request).surrogate_id, now=timezone.now())


def _examine(request: HttpRequest, campaign: Campaign, pk: int) -> None:
    examine_again(campaign=campaign, actor_id=signed_in(request).surrogate_id, now=timezone.now())


_DECISIONS: dict[str, Callable[[HttpRequest, Campaign, int], None]] = {
    "review": _review, "appeal": _appeal, "ticket": _ticket, "undo": _undo, "retry": _retry, "flag": _flag, "examine": _examine,
}  # fmt: skip


@_of_votes(Action.MANAGE)
@require_http_methods(["GET", "POST"])
def inspect(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show one drawn annotation after the other; one key a verdict."""
    if request.method == "POST":
        pk, verdict = request.POST.get("inspection", ""), request.POST.get("verdict", "")
        inspection = get_object_or_404(Inspection, pk=whole_number(pk), campaign=campaign)
        if verdict not in InspectionVerdict.values:
            raise Http404
        inspection_decide(
            inspection=inspection, verdict=InspectionVerdict(verdict), exclude="exclude" in request.POST,
            actor_id=signed_in(request).surrogate_id, now=timezone.now(),
        )  # fmt: skip
        return redirect("quality-inspect", slug=campaign.slug)
    found = inspection_next(campaign=campaign)
    context: dict[str, Any] = {"campaign": campaign, "inspection": found, "verdicts": _keyed(InspectionVerdict.choices)}
    if found is not None:
        context |= {"pages": pages_of(campaign.task_type)} | pages_of(campaign.task_type).item(
            found.annotation.item.content
        )
    return render(request, "quality/inspect.html", context)


def _keyed(choices: list[tuple[str, Any]]) -> list[tuple[int, str, Any]]:
    return [(number, value, label) for number, (value, label) in enumerate(choices, start=1)]


@_of_votes(Action.JUDGE)
@require_http_methods(["GET", "POST"])
def cases(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show an expert one case after the other, blind to what was said before."""
    surrogate_id = signed_in(request).surrogate_id
    if request.method == "POST":
        pk, label = request.POST.get("case", ""), request.POST.get("label", "")
        case = get_object_or_404(Case, pk=whole_number(pk), campaign=campaign)
        try:
            opinion_give(
                case=case, surrogate_id=surrogate_id, label=whole_number(label) or label,
                justification=request.POST.get("justification", ""), now=timezone.now(),
            )  # fmt: skip
        except CaseError as error:
            messages.error(request, str(error))
        return redirect("quality-cases", slug=campaign.slug)
    found = case_next(campaign=campaign, surrogate_id=surrogate_id)
    context: dict[str, Any] = {"campaign": campaign, "case": found}
    if found is not None:
        context |= {"pages": pages_of(campaign.task_type)} | pages_of(campaign.task_type).item(found.item.content)
    return render(request, "quality/cases.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def workforces(request: HttpRequest, slug: str) -> HttpResponse:
    """Add a workforce: first the estimate, then the decision."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    forms: dict[str, MTurkForm] = {kind: form(auto_id=f"id_{kind}_%s") for kind, form in _FORMS.items()}
    estimated: tuple[Estimate, int, int] | None = None
    kind = request.POST.get("kind", "")
    if request.method == "POST" and kind in _FORMS:
        form = forms[kind] = _FORMS[kind](request.POST, auto_id=f"id_{kind}_%s")
        if form.is_valid():
            estimated = _estimated(campaign, form)
            if "launch" in request.POST:
                actor_id = signed_in(request).surrogate_id
                workforce_add(campaign=campaign, kind=kind, terms=form.terms(), actor_id=actor_id, now=timezone.now())
                messages.success(request, _("People can come now."))
                return redirect("quality-workforces", slug=slug)
    rows = [(row, _address(request, row)) for row in workforces_shown(campaign)]
    context = {"campaign": campaign, "forms": forms, "workforces": rows, "estimated": estimated, "kind": kind}
    context["list_form"] = PanelListForm()
    return render(request, "quality/workforces.html", context)


_FORMS: dict[str, type[MTurkForm]] = {"mturk": MTurkForm, "link": LinkForm}


def _estimated(campaign: Campaign, form: MTurkForm) -> tuple[Estimate, int, int]:
    """Return the estimate, the hourly pay it comes to, and the floor, in cents."""
    data, found = form.cleaned_data, policy_current(campaign)
    policy = found[1] if found else Policy()
    items = Item.objects.filter(campaign=campaign, state=ItemState.ACTIVE, batch__purpose__in=ORDINARY).count()
    votes = max(campaign.splits.filter(weight__gt=0).values_list("n", flat=True), default=1)
    made = estimate(
        items=items, votes=votes, reward_cents=data["reward_cents"], has_fees=data.get("has_fees", False),
        items_per_ticket=data["items_per_ticket"], people=data["people"],
        training_bonus_cents=data.get("training_bonus_cents", 0), gold_rate=policy.gold_rate,
        gold_first=policy.gold_first, inspection_rate=policy.inspection_rate,
    )  # fmt: skip
    hourly = round(data["reward_cents"] * 3600 / (data["seconds_each"] * data["items_per_ticket"]))
    return made, hourly, data["floor_cents_per_hour"]


def _address(request: HttpRequest, row: Workforce) -> str:
    return request.build_absolute_uri(row.path) if row.kind == "link" else ""
