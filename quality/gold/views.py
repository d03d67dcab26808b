"""Pages for gold keys: import, view, correct, retire, and have experts confirm them."""

import json
import uuid
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.files.storage import default_storage
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from accounts.parameters import whole_number
from accounts.permissions import Action, signed_in
from annotation.access import campaign_for
from annotation.items.selectors import answers_side_by_side, comparison_of
from annotation.models import Campaign, Purpose
from annotation.tasktypes.base import Pages
from annotation.tasktypes.registry import TASK_TYPES, pages_of
from jobs.models import Job
from jobs.services import job_enqueue
from quality.dashboard.services import quality_numbers_request
from quality.experts.services.cases import CaseError
from quality.gold.forms import GoldForm, PilotKeysForm
from quality.gold.selectors import FEW_NEWCOMERS, experts_on_key, keys_page
from quality.gold.services.key_changes import KeyRefused, gold_key_ask, gold_key_edit, gold_key_retire
from quality.models import GoldKey, GoldKeyState, QualitySnapshot
from quality.payloads import GoldImportPayload, PilotKeysPayload
from quality.policies.policy import Policy
from quality.policies.selectors import policy_current
from web.error_texts import error_text

MOST_CHARACTERS = 20_000  # of what a key accepts


@login_required
@require_http_methods(["GET", "POST"])
def keys(request: HttpRequest, slug: str) -> HttpResponse:
    """List gold keys, remaining exposures and doubtful keys; POST imports a file or makes keys from the pilot."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    if request.method == "POST" and "pilot" in request.POST:
        return _of_pilot(request, campaign)
    form = GoldForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        upload = form.cleaned_data["file"]
        job = job_enqueue(
            kind="quality.import_gold",
            now=timezone.now(),
            scope_id=campaign.pk,
            requested_by_id=signed_in(request).surrogate_id,
            payload=GoldImportPayload(
                campaign=str(campaign.pk),
                file=default_storage.save(f"{uuid.uuid4()}", upload),
                name=upload.name,
                experts=form.cleaned_data["experts"],
            ),
        )
        return redirect("job", job_id=job.pk)
    numbers_job = quality_numbers_request(campaign=campaign, now=timezone.now())
    snapshot = QualitySnapshot.objects.filter(campaign=campaign).first()
    found, pages = policy_current(campaign), pages_of(campaign.task_type)
    context = {
        "campaign": campaign,
        "form": form,
        "sample": pages.gold_sample,
        "gold_help": pages.gold_help,
        "pilot_form": PilotKeysForm(auto_id="pilot_%s"),
        "has_pilot": campaign.items.filter(batch__purpose=Purpose.PILOT).exists(),
        "policy": found[1] if found else Policy(),
        "page": keys_page(
            campaign=campaign, state=request.GET.get("state", ""), after=whole_number(request.GET.get("after"))
        ),
        "few_newcomers": FEW_NEWCOMERS,
        "states": GoldKeyState.choices,
        "state": request.GET.get("state", ""),
        "jobs": Job.objects.filter(
            scope_id=campaign.pk, kind__in=["quality.import_gold", "quality.pilot_keys"]
        ).order_by("-created_at")[:3],
        "snapshot": snapshot,
        "is_recalculating": numbers_job is not None,
        **_numbers(campaign, snapshot),
    }
    return render(request, "quality/gold/keys.html", context)


def _of_pilot(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Start a job that makes gold keys of the pilot items with equal answers."""
    form = PilotKeysForm(request.POST)
    if not form.is_valid():
        messages.error(request, form.errors.as_text())
        return redirect("quality-gold", slug=campaign.slug)
    job = job_enqueue(
        kind="quality.pilot_keys",
        now=timezone.now(),
        scope_id=campaign.pk,
        requested_by_id=signed_in(request).surrogate_id,
        payload=PilotKeysPayload(campaign=str(campaign.pk), experts=form.cleaned_data["experts"]),
    )
    return redirect("job", job_id=job.pk)


def _numbers(campaign: Campaign, snapshot: QualitySnapshot | None) -> dict[str, Any]:
    """Return the numbers on gold keys from the last job, and the doubtful keys with their items."""
    gold = snapshot.data.get("gold", {}) if snapshot else {}
    doubts = {row["key"]: row for row in gold.get("doubtful", [])}
    rows = GoldKey.objects.filter(campaign=campaign, pk__in=doubts, state=GoldKeyState.ACTIVE).select_related("item")
    return {"gold": gold, "doubtful": [(row, doubts[row.pk]) for row in rows.order_by("pk")]}


@login_required
@require_http_methods(["GET", "POST"])
def key(request: HttpRequest, slug: str, key_id: int) -> HttpResponse:
    """Show a gold key with people's answers; POST corrects it, retires it, or sends it to experts."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    rows = GoldKey.objects.select_related("item__tokenization__document", "campaign").annotate(**experts_on_key())
    found = get_object_or_404(rows, pk=key_id, campaign=campaign)
    if request.method == "POST":
        try:
            messages.success(request, _change(request, found))
        except (KeyRefused, CaseError) as error:
            messages.error(request, error_text(error))
        return redirect("quality-gold-key", slug=slug, key_id=key_id)
    pages, task_type = pages_of(campaign.task_type), TASK_TYPES[campaign.task_type]
    checks = found.checks.select_related("annotation").order_by("pk")[:200]
    context = {
        "campaign": campaign,
        "key": found,
        "pages": pages,
        "comparison": comparison_of(answers_side_by_side(found.item)),
        "accepted_parts": [pages.part(found.item, part) for part in task_type.parts_of_key(found.accepted)],
        "accepted": json.dumps(found.accepted, ensure_ascii=False),
        "checks": checks,
        "experts_said": _experts_said(found, pages) if found.state == GoldKeyState.WAITING else [],
        "may_manage": False,
        **pages.item(found.item.content),
    }
    return render(request, "quality/gold/key.html", context)


def _experts_said(found: Any, pages: Pages) -> list[str]:
    """Return the names of the grades that experts gave to a key that they didn't confirm."""
    names = {grade: str(name) for grade, name, _meaning in pages.grades}
    return [names.get(grade, str(grade)) for grade in (found.experts_said or {}).values()]


def _change(request: HttpRequest, found: GoldKey) -> str:
    """Process a form of the key's page, and return the message to show."""
    actor_id, now, what = signed_in(request).surrogate_id, timezone.now(), request.POST.get("what")
    if what == "edit":
        changed = gold_key_edit(key=found, accepted=_accepted(request), actor_id=actor_id, now=now)
        said = ngettext(
            "Saved. The result of %(n)s check changed.", "Saved. The results of %(n)s checks changed.", changed
        )
        return said % {"n": changed}
    if what == "retire":
        reason = request.POST.get("reason", "").strip()
        if not reason:
            raise KeyRefused("reason_missing")
        is_wrong = "wrong" in request.POST
        void = gold_key_retire(key=found, reason=reason, is_wrong=is_wrong, actor_id=actor_id, now=now)
        if is_wrong:
            said = ngettext("Retired. %(n)s check no longer counts.", "Retired. %(n)s checks no longer count.", void)
            return said % {"n": void}
        return _("Gold question retired.")
    if what == "ask":
        experts = whole_number(request.POST.get("experts"))
        opened = gold_key_ask(key=found, experts=experts, actor_id=actor_id, now=now)
        return (
            _("Sent to the experts. This gold question isn't used for checks until they confirm it.")
            if opened
            else _("The experts already have this item.")
        )
    raise KeyRefused("action_missing")


def _accepted(request: HttpRequest) -> Any:
    text = request.POST.get("accepted", "")[:MOST_CHARACTERS]
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise KeyRefused("not_json", problem=error_text(error)) from error
