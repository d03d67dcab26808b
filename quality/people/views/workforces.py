"""The page about the workforces of a campaign."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import OuterRef, Subquery
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.parameters import whole_number
from accounts.permissions import Action, signed_in
from annotation.access import campaign_for
from annotation.models import ORDINARY, Campaign, Item, ItemState
from annotation.tasktypes.base import Voted
from annotation.tasktypes.registry import TASK_TYPES, pages_of
from jobs.services import job_enqueue
from quality.models import QualitySnapshot
from quality.policies.policy import Policy
from quality.policies.selectors import policy_current
from web.error_texts import error_text
from workforces.forms import TermsForm
from workforces.kinds.base import DraftError, Kind
from workforces.kinds.registry import KINDS
from workforces.models import Workforce
from workforces.money import estimate
from workforces.payloads import WorkforcePayload
from workforces.services.workforces import BOOKS, workforce_add


@login_required
@require_http_methods(["GET", "POST"])
def workforces(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the cost and workforces of a campaign; add a workforce: first the estimate, then the confirmation."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    offers = [Offer(kind, terms_form(campaign, kind)) for kind in KINDS.values() if kind.form]
    estimated: dict[str, Any] | None = None
    chosen = request.POST.get("kind", "")
    for offer in offers if request.method == "POST" else ():
        if offer.kind.key != chosen:
            continue
        offer.form = terms_form(campaign, offer.kind, request.POST)
        if offer.form.is_valid():
            estimated = terms_estimated(campaign, offer.form)
            if "launch" in request.POST:
                actor_id, terms = signed_in(request).surrogate_id, offer.form.terms()
                workforce_add(campaign=campaign, kind=chosen, terms=terms, actor_id=actor_id, now=timezone.now())
                messages.success(request, _("Recruitment is open."))
                return redirect("quality-workforces", slug=slug)
    if "reconcile" in request.POST:
        return _compare(request, campaign)
    if "publish" in request.POST:
        return _publish(request, campaign)
    kept = QualitySnapshot.objects.filter(campaign=OuterRef("campaign"))
    ways = list(
        campaign.workforces.annotate(
            money=Subquery(kept.values("data__money")), taken_at=Subquery(kept.values("taken_at"))
        ).order_by("pk")
    )
    rows = [
        {"row": row, "page": KINDS[row.kind].page, "terms": _terms(row), **KINDS[row.kind].shown(row)} for row in ways
    ]
    context = {"campaign": campaign, "offers": offers, "workforces": rows, "estimated": estimated, "chosen": chosen}
    if ways:
        context |= {"money": ways[0].money, "taken_at": ways[0].taken_at}
    return render(request, "quality/people/workforces.html", context)


@dataclass(slots=True)
class Offer:
    """A kind of workforce that can be added to a campaign, with the form for its terms."""

    kind: Kind
    form: TermsForm


def terms_form(campaign: Campaign, kind: Kind, sent: Any = None) -> TermsForm:
    """Return the form for a workforce's terms, with what is usual for the campaign's task type."""
    proposed = {"seconds_each": TASK_TYPES[campaign.task_type].usual_seconds, **pages_of(campaign.task_type).posting}
    made: TermsForm = import_string(kind.form)(sent, auto_id=f"id_{kind.key}_%s", initial=proposed)
    return made


def _publish(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Publish what a workforce prepared as a draft; from then on it costs money."""
    rows = Workforce.objects.select_related("campaign")
    row = get_object_or_404(rows, pk=whole_number(request.POST["publish"]), campaign=campaign)
    try:
        KINDS[row.kind].publish(workforce=row, actor_id=signed_in(request).surrogate_id, now=timezone.now())
        messages.success(request, _("It will be published within a minute."))
    except DraftError as error:
        messages.error(request, error_text(error))
    return redirect("quality-workforces", slug=campaign.slug)


def _compare(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Start a comparison of a workforce's ledger with the marketplace's or panel's."""
    row = get_object_or_404(Workforce, pk=whole_number(request.POST["reconcile"]), campaign=campaign)
    if not KINDS[row.kind].has_books:
        raise Http404
    job_enqueue(
        kind=BOOKS,
        payload=WorkforcePayload(workforce=row.pk, name=str(_("Ledger comparison"))),
        now=timezone.now(),
        scope_id=campaign.pk,
        requested_by_id=signed_in(request).surrogate_id,
        key=f"reconcile:{row.pk}",
    )
    return redirect("quality-workforces", slug=campaign.slug)


def terms_estimated(campaign: Campaign, form: TermsForm) -> dict[str, Any]:
    """Return the estimate and its hourly pay in cents, with the problems found in them."""
    data, found = form.cleaned_data, policy_current(campaign)
    policy = found[1] if found else Policy()
    items = Item.objects.filter(campaign=campaign, state=ItemState.ACTIVE, batch__purpose__in=ORDINARY).count()
    votes = max(campaign.splits.filter(weight__gt=0).values_list("n", flat=True), default=1)
    made = estimate(
        items=items,
        votes=votes,
        reward_cents=data["reward_cents"],
        fee_share=form.terms_class(**form.terms()).fee_share,
        items_per_ticket=data["items_per_ticket"],
        people=data["people"],
        training_bonus_cents=data.get("training_bonus_cents", 0),
        gold_rate=policy.gold_rate,
        gold_first=policy.gold_first,
        inspection_rate=policy.inspection_rate,
        **({} if isinstance(TASK_TYPES[campaign.task_type], Voted) else {"no_agreement": 0.0}),
    )
    hourly = round(data["reward_cents"] * 3600 / (data["seconds_each"] * data["items_per_ticket"]))
    return {
        "made": made,
        "hourly": hourly,
        "is_below_floor": hourly < data["floor_cents_per_hour"],
        "is_above_cap": data["cap_cents"] is not None and made.cents > data["cap_cents"],
    }


def _terms(row: Workforce) -> list[tuple[Any, Any]]:
    """Return the terms of a workforce with the labels of their form; other terms are left out."""
    form = KINDS[row.kind].form
    fields = import_string(form).base_fields if form else {}
    found = []
    for name, field in fields.items():
        if name in row.terms and row.terms[name] not in (None, ""):
            value = field.prepare_value(row.terms[name])
            value = {True: _("Yes"), False: _("No")}[value] if isinstance(value, bool) else value
            found.append((field.label, dict(getattr(field, "choices", ())).get(value, value)))
    return found
