"""The page for measuring label error: it starts audits and shows their results."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.models import Membership, Role
from accounts.parameters import whole_number
from accounts.permissions import Action, signed_in
from annotation.access import campaign_for
from annotation.models import Campaign
from annotation.tasktypes.base import Voted
from annotation.tasktypes.registry import TASK_TYPES
from jobs.services import job_enqueue
from measures.audits import LEAST
from quality.dashboard.services import quality_numbers_request
from quality.labels.forms import AuditForm
from quality.labels.services.audits import audit_call_off
from quality.models import Audit, QualitySnapshot, Verdict
from quality.payloads import AuditDrawPayload

EXPERTS = 2  # as many as judge a part of the items


@login_required
@require_http_methods(["GET", "POST"])
def audits(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the results of audits; POST starts an audit or cancels one."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    obstacle = audit_obstacle(campaign)
    form = AuditForm(request.POST if "count" in request.POST else None)
    if "call_off" in request.POST:
        return _called_off(request, campaign)
    if request.method == "POST" and not obstacle and form.is_valid():
        asked = form.cleaned_data
        job = job_enqueue(
            kind="quality.audit",
            payload=AuditDrawPayload(campaign=str(campaign.pk), count=asked["count"], twice=asked["twice"], seed=None),
            now=timezone.now(),
            scope_id=campaign.pk,
            requested_by_id=signed_in(request).surrogate_id,
        )
        return redirect("job", job_id=job.pk)
    quality_numbers_request(campaign=campaign, now=timezone.now())
    data = QualitySnapshot.objects.filter(campaign=campaign).values_list("data", flat=True).first() or {}
    context = {"campaign": campaign, "form": form, "obstacle": obstacle, "audits": data.get("audits", [])}
    return render(request, "quality/labels/audits.html", context)


def _called_off(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    audit = get_object_or_404(Audit, pk=whole_number(request.POST["call_off"]), campaign=campaign)
    if audit_call_off(audit=audit, actor_id=signed_in(request).surrogate_id, now=timezone.now()):
        messages.success(request, _("Audit canceled. It stays on record."))
    else:
        messages.error(request, _("This audit has already ended, so you can't cancel it."))
    return redirect("quality-audits", slug=campaign.slug)


def audit_obstacle(campaign: Campaign) -> str:
    """Return the reason why no audit can be drawn; empty if one can."""
    if not isinstance(TASK_TYPES[campaign.task_type], Voted):
        return _("This task type has no voted labels to audit. Draw a sample on the Experts page instead.")
    labels = Verdict.objects.filter(campaign=campaign, superseded_at=None).values("pk")[:LEAST]
    if len(labels) < LEAST:
        said = _("An audit needs at least %(least)d labels, and this campaign has %(n)d.")
        return said % {"least": LEAST, "n": len(labels)}
    if Membership.objects.filter(scope_id=campaign.pk, role=Role.EXPERT).count() < EXPERTS:
        return _(
            "An audit needs at least two experts, because some items are judged by two. Invite more experts on the Annotators page."
        )
    return ""
