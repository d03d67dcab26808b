"""Pages for experts: cases judged alone, then discussed; and an overview for managers."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.parameters import whole_number
from accounts.permissions import Action, signed_in
from annotation.access import campaign_for
from annotation.campaigns.selectors.sealing import unsealed
from annotation.models import Campaign, Item
from annotation.tasktypes.base import Pages
from annotation.tasktypes.registry import pages_of
from jobs.services import job_enqueue
from quality.dashboard.services import quality_numbers_request
from quality.experts.forms import SampleForm
from quality.experts.selectors import (
    DISCUSSION_DAYS,
    MOST,
    case_next,
    cases_counted,
    cases_of_expert,
    cases_to_judge,
    left_of,
)
from quality.experts.services.cases import RECALLABLE, CaseError, case_ask, case_recall
from quality.experts.services.opinions import (
    case_discuss,
    consensus_confirm,
    consensus_propose,
    opinion_give,
    said_from,
)
from quality.models import Case, CaseReason, CaseState, Opinion, Phase, QualitySnapshot
from quality.payloads import CasesSamplePayload
from web.error_texts import error_text

PROPOSED = ("experts", "count", "least")  # of a sample, by a link to its form


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def desk(request: HttpRequest, slug: str) -> HttpResponse:
    """Show an expert one case after another, without earlier opinions; and the discussions they take part in."""
    campaign = campaign_for(request, slug, Action.JUDGE)
    surrogate_id = signed_in(request).surrogate_id
    if request.method == "POST":
        case = get_object_or_404(Case, pk=whole_number(request.POST.get("case", "")), campaign=campaign)
        try:
            opinion_give(
                case=case,
                surrogate_id=surrogate_id,
                said=said_from(case, request.POST),
                justification=request.POST.get("justification", ""),
                now=timezone.now(),
            )
        except CaseError as error:
            messages.error(request, error_text(error))
        return redirect("quality-cases", slug=slug)
    found = case_next(campaign=campaign, surrogate_id=surrogate_id)
    mine = cases_of_expert(campaign=campaign, surrogate_id=surrogate_id)
    context: dict[str, Any] = {
        "campaign": campaign,
        "case": found,
        "discussions": mine.filter(state=CaseState.CONSENSUS).order_by("pk")[:MOST],
        "decided": mine.filter(state=CaseState.DECIDED, experts__gt=1).order_by("-closed_at", "-pk")[:10],
    }
    if found is not None:
        context |= _shown(campaign, found) | left_of(cases_to_judge(campaign=campaign, surrogate_id=surrogate_id))
    return render(request, "quality/experts/cases.html", context)


def _shown(campaign: Campaign, case: Case) -> dict[str, Any]:
    """Return the parts to judge, and the grades to choose from."""
    pages = pages_of(campaign.task_type)
    parts = [(part["key"], pages.part(case.item, part)) for part in case.parts]
    shown = pages.item(case.item.content)
    # Labels of this item, whose meanings may depend on what is known of it.
    named = shown.get("labels", pages.grades)
    grades = [(_key_of(one[0], number), *one) for number, one in enumerate(named, start=1)]
    return {"pages": pages, "parts": parts, "grades": grades} | shown


def _key_of(grade: Any, number: int) -> str:
    """Return the keyboard key of a grade: the grade if it is one character, as labels are; otherwise its number."""
    return str(grade) if len(str(grade)) == 1 else str(number)


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def discussion(request: HttpRequest, slug: str, case_id: int) -> HttpResponse:
    """Show a case's opinions to its experts once all are given; they discuss, propose a consensus and confirm it."""
    campaign = campaign_for(request, slug, Action.JUDGE)
    surrogate_id = signed_in(request).surrogate_id
    mine = cases_of_expert(campaign=campaign, surrogate_id=surrogate_id)
    case = get_object_or_404(mine.select_related("item__tokenization__document", "campaign"), pk=case_id)
    if request.method == "POST":
        try:
            _discuss(request, case)
        except CaseError as error:
            messages.error(request, error_text(error))
        return redirect("quality-case", slug=slug, case_id=case_id)
    said = list(case.opinions.order_by("pk"))
    opinions = [row for row in said if row.phase == Phase.BLIND]
    letters = {row.surrogate_id: chr(ord("A") + number) for number, row in enumerate(opinions)}
    context = {
        "campaign": campaign,
        "case": case,
        "own": letters[surrogate_id],
        "opinions": [(letters[row.surrogate_id], row) for row in opinions],
        "thread": [(letters.get(row.surrogate_id, ""), row) for row in case.messages.order_by("pk")[:500]],
        "consensus": next((row for row in said if row.phase == Phase.CONSENSUS), None),
        **_shown(campaign, case),
    }
    context["rows"] = _side_by_side(context["parts"], opinions, context["pages"])
    last = context["consensus"] or next((row for row in reversed(said) if row.phase == Phase.PROPOSED), None)
    if last is not None:
        context["agreed"] = _named(context["pages"], last.said)
    if case.state == CaseState.CONSENSUS:
        context |= {"proposal": last, "is_own_proposal": last is not None and last.surrogate_id == surrogate_id}
        context |= {"proposed_by": letters[last.surrogate_id] if last else "", "days": DISCUSSION_DAYS}
    return render(request, "quality/experts/case.html", context)


def _discuss(request: HttpRequest, case: Case) -> None:
    surrogate_id, now = signed_in(request).surrogate_id, timezone.now()
    what = request.POST.get("what")
    if what == "confirm":
        proposal_id = whole_number(request.POST.get("proposal"))
        consensus_confirm(case=case, proposal_id=proposal_id, surrogate_id=surrogate_id, now=now)
    elif what == "consensus":
        consensus_propose(
            case=case,
            surrogate_id=surrogate_id,
            said=said_from(case, request.POST),
            justification=request.POST.get("justification", ""),
            now=now,
        )
    else:
        case_discuss(case=case, surrogate_id=surrogate_id, text=request.POST.get("text", ""), now=now)


def _named(pages: Pages, said: Mapping[str, Any]) -> dict[str, Any]:
    """Return the names of the given grades, by part."""
    names = {grade: name for grade, name, _ in pages.grades}
    return {key: names.get(grade, grade) for key, grade in said.items()}


def _side_by_side(
    parts: list[tuple[str, dict[str, Any]]], opinions: list[Opinion], pages: Pages
) -> list[tuple[str, dict[str, Any], list[Any], bool]]:
    """Return for each part its grades in the order of the opinions, and whether they differ."""
    rows = []
    for key, shown in parts:
        given = [_named(pages, opinion.said).get(key, "") for opinion in opinions]
        rows.append((key, shown, given, len(set(given)) > 1))
    return rows


class Undecided(NamedTuple):
    """A case without agreement: its parts as from `_side_by_side`, the grades, and the experts' reasons."""

    case: Case
    rows: list[tuple[str, dict[str, Any], list[Any], bool]]
    reasons: list[str]


def discussions_shown(campaign: Campaign, cases: Sequence[Case]) -> dict[str, Any]:
    """Return the cases without agreement, as shown to managers, and the grades to choose from."""
    pages = pages_of(campaign.task_type)
    said = defaultdict(list)
    for row in Opinion.objects.filter(case__in=cases, phase=Phase.BLIND).order_by("pk"):
        said[row.case_id].append(row)
    shown = [
        Undecided(
            case,
            _side_by_side([(part["key"], pages.part(case.item, part)) for part in case.parts], said[case.pk], pages),
            [opinion.justification for opinion in said[case.pk]],
        )
        for case in cases
    ]
    return {"cases": shown, "grades": pages.grades, "days": DISCUSSION_DAYS}


@login_required
@require_http_methods(["GET", "POST"])
def experts(request: HttpRequest, slug: str) -> HttpResponse:
    """Show managers the experts' progress and sample results; POST draws a sample, the query can prefill its form."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    if "recall" in request.POST:
        return _recall(request, campaign)
    form = SampleForm(
        campaign, request.POST or None, initial={name: request.GET[name] for name in PROPOSED if name in request.GET}
    )
    if request.method == "POST" and form.is_valid():
        asked = form.cleaned_data
        job = job_enqueue(
            kind="quality.sample_cases",
            payload=CasesSamplePayload(
                campaign=str(campaign.pk),
                count=asked["count"],
                seed=asked["seed"],
                experts=asked["experts"],
                every_answer=asked["every_answer"],
                least=asked["least"],
            ),
            now=timezone.now(),
            scope_id=campaign.pk,
            requested_by_id=signed_in(request).surrogate_id,
        )
        return redirect("job", job_id=job.pk)
    quality_numbers_request(campaign=campaign, now=timezone.now())
    snapshot = QualitySnapshot.objects.filter(campaign=campaign).first()
    numbers = snapshot.data.get("experts", {}) if snapshot else {}
    pages = pages_of(campaign.task_type)
    context = {
        "campaign": campaign,
        "form": form,
        "cases": cases_counted(campaign),
        "snapshot": snapshot,
        "sample": [_sample_named(pages, row) for row in numbers.get("sample", [])],
        "agreement": [{**row, "name": _part_name(pages, row["what"])} for row in numbers.get("agreement", [])],
        "latest": Case.objects.filter(unsealed(), campaign=campaign)
        .annotate(judged=Count("opinions", filter=Q(opinions__phase=Phase.BLIND)))
        .select_related("item")
        .order_by("-pk")[:20],
        "recallable": RECALLABLE,
    }
    return render(request, "quality/experts/experts.html", context)


def _recall(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Withdraw a case from the experts."""
    case = get_object_or_404(Case, pk=whole_number(request.POST["recall"]), campaign=campaign)
    try:
        case_recall(case=case, actor_id=signed_in(request).surrogate_id, now=timezone.now())
        messages.success(request, _("The case was recalled. Judgments made so far are kept."))
    except CaseError as error:
        messages.error(request, error_text(error))
    return redirect("quality-experts", slug=campaign.slug)


def _sample_named(pages: Pages, row: Mapping[str, Any]) -> dict[str, Any]:
    names = {str(grade): name for grade, name, _ in pages.grades}
    grades = [{**one, "name": names.get(str(one["grade"]), one["grade"])} for one in row["grades"]]
    return {**row, "name": _part_name(pages, row["what"]), "grades": grades}


def _part_name(pages: Pages, what: str) -> Any:
    return pages.part_names.get(what, pages.measures.get(what, what))


@login_required
@require_POST
def ask(request: HttpRequest, slug: str, item_id: int) -> HttpResponse:
    """Send an item to experts at a manager's request."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    item = get_object_or_404(Item.objects.select_related("campaign"), pk=item_id, campaign=campaign)
    experts = whole_number(request.POST.get("experts"))
    actor_id = signed_in(request).surrogate_id
    try:
        opened = case_ask(item=item, because=CaseReason.MANAGER, experts=experts, actor_id=actor_id, now=timezone.now())
        said = (
            _("Sent to the experts. Each expert first judges the item independently.")
            if opened
            else _("The experts already have this item.")
        )
        messages.success(request, said)
    except CaseError as error:
        messages.error(request, error_text(error))
    return redirect("item", slug=slug, item_id=item_id)
