"""An annotator's way into a campaign and out of it: consent, training, guidelines, withdrawal."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from accounts.permissions import Action, can, signed_in
from accounts.selectors import consent_text_current
from annotation.access import campaign_for, own_campaign_for
from annotation.campaigns.selectors.campaigns import guideline_current
from annotation.markdown import markdown_html
from annotation.models import Campaign
from annotation.people.services.withdrawal import participation_consent, withdrawal_ask, withdrawal_of, withdrawal_undo
from annotation.questions.selectors import MOST_FAQ, faq_of
from annotation.slots.services.claims import slot_claim_next
from annotation.tasktypes.registry import TASK_TYPES, pages_of


@login_required
@require_http_methods(["GET", "POST"])
def consent(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask for consent; nothing is recorded about a person before they agree."""
    campaign = campaign_for(request, slug, Action.ANNOTATE)
    text = consent_text_current(campaign.pk)
    if request.method == "POST" and text is not None and request.POST.get("text") == str(text.pk):
        surrogate_id, now = signed_in(request).surrogate_id, timezone.now()
        participation_consent(campaign=campaign, text_id=text.pk, surrogate_id=surrogate_id, now=now)
        slot_claim_next(campaign=campaign, surrogate_id=surrogate_id, now=now)
        return redirect("work", slug=slug)
    body = mark_safe(markdown_html(guideline_current(campaign).body))  # noqa: S308  sanitized
    asked = withdrawal_of(campaign=campaign, surrogate_id=signed_in(request).surrogate_id)
    context = {"campaign": campaign, "text": text, "guidelines": body, "asked": asked}
    return render(request, "annotation/consent.html", context)


@login_required
@require_GET
def guidelines(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the guidelines in force."""
    campaign = get_object_or_404(Campaign, slug=slug)
    user = signed_in(request)
    if not (can(user, Action.ANNOTATE, campaign.pk) or can(user, Action.SEE_CAMPAIGN, campaign.pk)):
        return HttpResponse(status=404)
    guideline = guideline_current(campaign)
    body = mark_safe(markdown_html(guideline.body))  # noqa: S308  sanitized
    examples = TASK_TYPES[campaign.task_type].examples
    context = {"campaign": campaign, "guideline": guideline, "body": body, "examples": examples}
    context |= {"pages": pages_of(campaign.task_type), "faq": faq_of(campaign)[:MOST_FAQ]}
    template = "annotation/_guidelines.html" if request.headers.get("HX-Request") else "annotation/guidelines.html"
    return render(request, template, context)


@login_required
@require_http_methods(["GET", "POST"])
def leave(request: HttpRequest, slug: str) -> HttpResponse:
    """Withdraw consent, or cancel the withdrawal; people whose role was removed can still do this."""
    campaign = own_campaign_for(request, slug)
    surrogate_id, now = signed_in(request).surrogate_id, timezone.now()
    if request.method == "POST" and "undo" in request.POST:
        if withdrawal_undo(campaign=campaign, surrogate_id=surrogate_id, now=now):
            messages.success(request, _("Welcome back. The withdrawal of your consent was canceled."))
        return redirect("home")
    if request.method == "POST":
        withdrawal_ask(campaign=campaign, surrogate_id=surrogate_id, now=now)
        return redirect("leave", slug=slug)
    asked = withdrawal_of(campaign=campaign, surrogate_id=surrogate_id)
    return render(request, "annotation/leave.html", {"campaign": campaign, "asked": asked})
