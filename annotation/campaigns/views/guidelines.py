"""The manager's page for reading, editing and publishing guidelines."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.permissions import Action, signed_in
from annotation.access import campaign_for
from annotation.campaigns.forms import GuidelineForm
from annotation.campaigns.selectors.campaigns import guideline_current, guideline_readers
from annotation.campaigns.services.campaigns import guideline_publish


@login_required
@require_http_methods(["GET", "POST"])
def guidelines(request: HttpRequest, slug: str) -> HttpResponse:
    """Edit the guidelines: each change creates a new version."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    guideline = guideline_current(campaign)
    form = GuidelineForm(request.POST or None, initial={"body": guideline.body})
    if request.method == "POST" and form.is_valid():
        if form.cleaned_data["body"].strip() != guideline.body.strip():
            actor_id = signed_in(request).surrogate_id
            guideline_publish(campaign=campaign, actor_id=actor_id, now=timezone.now(), **form.cleaned_data)
            messages.success(request, _("New version published. It applies to items opened from now on."))
        return redirect("pilot" if request.POST.get("from") == "pilot" else "campaign-guidelines", slug=slug)
    context = {"campaign": campaign, "form": form, "guideline": guideline, "readers": guideline_readers(guideline)}
    return render(request, "annotation/guidelines_edit.html", context)
