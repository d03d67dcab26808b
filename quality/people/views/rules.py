"""Rules on people's behavior: tested on stored history first, then enabled."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.parameters import whole_number
from accounts.permissions import Action, signed_in
from annotation.access import campaign_for
from annotation.models import Campaign
from jobs.models import Job, JobState
from jobs.services import job_enqueue
from quality.models import RuleFiring, WatchRule
from quality.payloads import DryRunPayload
from quality.people.forms import RuleForm
from quality.people.selectors.names import names_of
from quality.people.services.rules import condition_from, rule_add, rule_end


@login_required
@require_http_methods(["GET", "POST"])
def rules(request: HttpRequest, slug: str) -> HttpResponse:
    """List rules and their acts; POST tests one on stored history, enables one, or disables one."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    what = request.POST.get("what", "")
    form = RuleForm(request.POST if what in ("try", "add") else None)
    if what == "end":
        rule = get_object_or_404(WatchRule, pk=whole_number(request.POST.get("rule")), campaign=campaign)
        rule_end(rule=rule, actor_id=signed_in(request).surrogate_id, now=timezone.now())
        return redirect("quality-rules", slug=slug)
    if what in ("try", "add") and form.is_valid():
        _begin(request, campaign, form.cleaned_data, is_dry=what == "try")
        return redirect("quality-rules", slug=slug)
    fired = list(RuleFiring.objects.filter(rule__campaign=campaign).select_related("rule").order_by("-pk")[:50])
    tried = Job.objects.filter(scope_id=campaign.pk, kind="quality.dry_run").order_by("-created_at").first()
    result = tried.result if tried is not None and tried.state == JobState.DONE else {}
    found = result.get("found", [])[:200]
    names = names_of([*(row.surrogate_id for row in fired), *(UUID(row["surrogate"]) for row in found)])
    context = {
        "campaign": campaign,
        "form": form,
        "tried": tried,
        "acts": result.get("acts", 0),
        "rules": WatchRule.objects.filter(campaign=campaign)
        .annotate(n=Count("firings"))
        .order_by("ended_at", "-pk")[:50],
        "fired": [(row, names[row.surrogate_id]) for row in fired],
        "found": [_named(row, names) for row in found],
        "tried_rule": WatchRule(**result["rule"]) if "rule" in result else None,
    }
    return render(request, "quality/people/rules.html", context)


def _named(row: dict[str, Any], names: dict[UUID, str]) -> dict[str, Any]:
    surrogate_id = UUID(row["surrogate"])
    return {**row, "surrogate_id": surrogate_id, "name": names[surrogate_id], "at": parse_datetime(row["at"])}


def _begin(request: HttpRequest, campaign: Campaign, fields: dict[str, Any], *, is_dry: bool) -> None:
    actor_id, now = signed_in(request).surrogate_id, timezone.now()
    if is_dry:
        job_enqueue(
            kind="quality.dry_run",
            payload=DryRunPayload(campaign=str(campaign.pk), rule=fields),
            now=now,
            scope_id=campaign.pk,
            requested_by_id=actor_id,
        )
        messages.success(request, _("The test is running. Reload in a few seconds."))
    else:
        rule_add(campaign=campaign, condition=condition_from(fields), actor_id=actor_id, now=now)
        messages.success(request, _("Enabled. The rule applies from now on."))
