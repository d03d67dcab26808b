"""The page of a campaign's policy: the current version, its effects, and a form for a new version."""

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.permissions import Action, signed_in
from annotation.access import campaign_for
from annotation.models import Campaign
from annotation.tasktypes.base import Voted
from annotation.tasktypes.registry import TASK_TYPES
from quality.dashboard.services import quality_numbers_request
from quality.models import QualitySnapshot
from quality.policies.effects import AFTER_CHECKS, effects_of
from quality.policies.forms import PlanForm, PolicyForm, TargetForm
from quality.policies.policy import Policy, PolicyError
from quality.policies.selectors import policy_current
from quality.policies.services import policy_publish
from web.error_texts import error_text


@login_required
@require_http_methods(["GET", "POST"])
def policy(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the policy in force and its effects for a campaign size; POST publishes a new version."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    found = policy_current(campaign)
    version, current = found or (None, Policy())
    form, target = _forms(request, campaign, current)
    if request.method == "POST" and form.is_valid() and (target is None or target.is_valid()):
        changed = replace(form.policy(current), target=target.target() if target else current.target)
        if (changed == current and version is not None) or _published(request, campaign, changed, form):
            return redirect("quality-policy", slug=slug)
    quality_numbers_request(campaign=campaign, now=timezone.now())
    kept = QualitySnapshot.objects.filter(campaign=campaign).values_list("data", flat=True).first() or {}
    size = PlanForm(request.GET or None)
    given = size.cleaned_data if size.is_bound and size.is_valid() else {"people": 100, "items_each": 250}
    context = {
        "campaign": campaign,
        "form": form,
        "target": target,
        "version": version,
        "policy": current,
        "size": size,
        "given": given,
        "effects": effects_of(current, **given),
        "paused": kept.get("gold", {}).get("paused", []),
        "after": AFTER_CHECKS,
    }
    return render(request, "quality/policies/policy.html", context)


def _forms(request: HttpRequest, campaign: Campaign, current: Policy) -> tuple[PolicyForm, TargetForm | None]:
    """Return the form for a policy and, if votes make labels, the form for a target."""
    form = PolicyForm(request.POST or None, initial=current.as_data())
    if not isinstance(TASK_TYPES[campaign.task_type], Voted):
        form.without_votes()
        return form, None
    return form, TargetForm(request.POST or None, initial=TargetForm.initial_of(current.target))


def _published(request: HttpRequest, campaign: Campaign, changed: Policy, form: PolicyForm) -> bool:
    given: dict[str, Any] = {"actor_id": signed_in(request).surrogate_id, "now": timezone.now()}
    try:
        policy_publish(campaign=campaign, policy=changed, **given)
    except PolicyError as error:
        form.add_error(None, error_text(error))
        return False
    messages.success(request, _("Policy published. It applies to decisions from now on."))
    return True
