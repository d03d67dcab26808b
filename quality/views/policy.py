"""A campaign's policy: what it is, what it comes to, and a new version of it."""

from dataclasses import replace

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.permissions import Action, signed_in
from annotation.views.access import campaign_for
from quality.forms import PlanForm, PolicyForm
from quality.models import QualitySnapshot
from quality.rules.policy import Policy
from quality.selectors.plans import AFTER_CHECKS, plan_of
from quality.selectors.policies import policy_current
from quality.services.numbers import quality_numbers_request
from quality.services.policies import policy_publish


@login_required
@require_http_methods(["GET", "POST"])
def policy(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the policy in force and what it comes to for a campaign of a size; POST publishes a new version."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    found = policy_current(campaign)
    version, current = found or (None, Policy())
    form = PolicyForm(request.POST or None, initial=current.as_data())
    if request.method == "POST" and form.is_valid():
        changed = replace(current, **form.cleaned_data)
        if changed != current or version is None:
            actor_id = signed_in(request).surrogate_id
            policy_publish(campaign=campaign, policy=changed, actor_id=actor_id, now=timezone.now())
            messages.success(request, _("Published. It holds for what is planned and decided from now on."))
        return redirect("quality-policy", slug=slug)
    quality_numbers_request(campaign=campaign, now=timezone.now())
    kept = QualitySnapshot.objects.filter(campaign=campaign).values_list("data", flat=True).first() or {}
    size = PlanForm(request.GET or None)
    given = size.cleaned_data if size.is_bound and size.is_valid() else {"people": 100, "items_each": 250}
    context = {
        "campaign": campaign, "form": form, "version": version, "policy": current, "size": size, "given": given,
        "plan": plan_of(current, **given), "paused": kept.get("gold", {}).get("paused", []), "after": AFTER_CHECKS,
    }  # fmt: skip
    return render(request, "quality/policy.html", context)
