"""The page of a campaign's certificates, and their files."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from accounts.parameters import whole_number
from accounts.permissions import Action, signed_in
from annotation.access import campaign_for
from annotation.models import Campaign
from annotation.tasktypes.base import Voted
from annotation.tasktypes.registry import TASK_TYPES
from jobs.services import job_enqueue
from measures.certificates import Claim, effort
from quality.certificates.forms import ClaimForm, FreezeForm, SeedForm
from quality.certificates.models import Certificate, CertificateState
from quality.certificates.selectors import (
    MOST_PLACES,
    certificate_unfinished,
    certificates_of,
    files_of,
    sealed_in,
)
from quality.certificates.services import LEAST_LABELS, CertificateError, certificate_draw, certificate_end
from quality.experts.selectors import DISCUSSION_DAYS, experts_here
from quality.labels.selectors.audits import labels_in_force
from web.error_texts import error_text

GUESSES = (0.0, 0.2, 0.4, 0.6, 0.8)  # of the acceptable share
RUNS = 100
MOST_COUNTED = 20_000  # labels; with more, the effort is the same


@login_required
@require_http_methods(["GET", "POST"])
def certificates(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the certificates of a campaign. POST freezes labels, sets a seed, or ends an audit; GET estimates the effort."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    if "certificate" in request.POST:
        pk = whole_number(request.POST["certificate"])
        certificate = get_object_or_404(Certificate.objects.select_related("campaign"), pk=pk, campaign=campaign)
        if "end" in request.POST:
            return _ended(request, certificate)
        seed = SeedForm(certificate.commitments, request.POST)
        return _drawn(request, certificate, seed) if seed.is_valid() else _page(request, campaign, FreezeForm(), seed)
    asked = ClaimForm(request.GET or None, auto_id="effort_%s")
    form = FreezeForm(request.POST or None, initial=request.GET.dict())
    if request.method == "POST" and not obstacle_of(campaign) and form.is_valid():
        return _frozen(request, campaign, form)
    return _page(request, campaign, form, None, asked)


def _page(
    request: HttpRequest,
    campaign: Campaign,
    form: FreezeForm,
    seed: SeedForm | None,
    asked: ClaimForm | None = None,
) -> HttpResponse:
    unfinished = certificate_unfinished(campaign)
    if seed is None and unfinished and unfinished.state == CertificateState.FROZEN:
        seed = SeedForm(unfinished.commitments)
    context = {
        "campaign": campaign,
        "form": form,
        "certificates": certificates_of(campaign),
        "obstacle": obstacle_of(campaign),
        "seed": seed,
        "days": DISCUSSION_DAYS,
        "asked": asked or ClaimForm(auto_id="effort_%s"),
        "efforts": _efforts(campaign, asked) if asked else [],
        "seconds": TASK_TYPES[campaign.task_type].usual_seconds,
    }
    return render(request, "quality/certificates/certificates.html", context)


def obstacle_of(campaign: Campaign) -> str:
    """Return the reason why no labels can be frozen; empty if they can."""
    if not isinstance(TASK_TYPES[campaign.task_type], Voted):
        return _("This task type has no voted labels to certify.")
    if certificate_unfinished(campaign):
        return _("Finish the current certificate first.")
    labels = labels_in_force(campaign).values("pk")[:LEAST_LABELS]
    if len(labels) < LEAST_LABELS:
        said = _("A certificate needs at least %(least)d labels, and this campaign has %(n)d.")
        return said % {"least": LEAST_LABELS, "n": len(labels)}
    if not experts_here(campaign):
        return _("A certificate needs experts. Invite them on the Roles and invitations page.")
    return ""


def _efforts(campaign: Campaign, form: ClaimForm) -> list[dict[str, Any]]:
    """Return the judgments that a certificate takes, for some shares of wrong labels; none if that wasn't asked."""
    if not form.is_bound or not form.is_valid():
        return []
    size = labels_in_force(campaign)[:MOST_COUNTED].count()
    asked = form.cleaned_data
    claim = Claim(max(size, LEAST_LABELS), asked["error"], asked["risk"], asked["guess"])
    hours = TASK_TYPES[campaign.task_type].usual_seconds / 3600
    found = [
        (share, effort(claim, share, most=MOST_PLACES, runs=RUNS)) for share in (part * claim.error for part in GUESSES)
    ]
    return [{"share": share, "effort": row, "hours": row.mean * hours} for share, row in found]


def _frozen(request: HttpRequest, campaign: Campaign, form: FreezeForm) -> HttpResponse:
    job = job_enqueue(
        kind="quality.certificate_freeze",
        payload=form.payload(campaign),
        now=timezone.now(),
        scope_id=campaign.pk,
        requested_by_id=signed_in(request).surrogate_id,
    )
    return redirect("job", job_id=job.pk)


def _drawn(request: HttpRequest, certificate: Certificate, form: SeedForm) -> HttpResponse:
    try:
        certificate_draw(
            certificate=certificate,
            seed=form.cleaned_data.get("seed", ""),
            reveals=form.reveals,
            actor_id=signed_in(request).surrogate_id,
            now=timezone.now(),
        )
        messages.success(request, _("The seed is set. Experts find the items among their cases."))
    except CertificateError as error:
        messages.error(request, error_text(error))
    return redirect("quality-certificates", slug=certificate.campaign.slug)


def _ended(request: HttpRequest, certificate: Certificate) -> HttpResponse:
    try:
        certificate_end(certificate=certificate, actor_id=signed_in(request).surrogate_id, now=timezone.now())
        messages.success(request, _("The audit has ended. Its record is kept."))
    except CertificateError as error:
        messages.error(request, error_text(error))
    return redirect("quality-certificates", slug=certificate.campaign.slug)


@login_required
@require_GET
def certificate_file(request: HttpRequest, slug: str, number: int, name: str) -> HttpResponseBase:
    """Download one of the files with which anyone can check a certificate."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    certificate = get_object_or_404(Certificate, campaign=campaign, number=number)
    files = files_of(certificate)
    if name not in files or not certificate.published or sealed_in(certificate):
        raise Http404
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(files[name], content_type="application/octet-stream", headers=headers)
