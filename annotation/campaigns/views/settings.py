"""The page of a campaign's settings: those that can change while it runs, and those that are locked."""

from dataclasses import fields
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.models import ConsentText
from accounts.permissions import Action, can, signed_in
from accounts.selectors import consent_text_current
from annotation.access import campaign_for
from annotation.campaigns.services.campaigns import (
    CHANGEABLE,
    NewConsent,
    campaign_change,
    consent_change,
    options_change,
)
from annotation.campaigns.settings_forms import ConsentForm, OptionsForm, SettingsForm
from annotation.models import Campaign
from annotation.tasktypes.registry import TASK_TYPES


@login_required
@require_http_methods(["GET", "POST"])
def settings(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the settings of a campaign; POST changes them, or the consent text."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    sent = request.POST if request.method == "POST" else None
    what = sent.get("what") if sent else None
    text = consent_text_current(campaign.pk)
    form = SettingsForm(sent if what == "settings" else None, initial=settings_fields(campaign))
    consent = ConsentForm(sent if what == "consent" else None, initial=consent_fields(text))
    options = OptionsForm(campaign, sent if what == "options" else None)
    if options.is_valid():
        changed = options_change(
            campaign=campaign, chosen=options.cleaned_data, actor_id=signed_in(request).surrogate_id, now=timezone.now()
        )
        messages.success(request, _("Saved.") if changed else _("Nothing changed."))
        return redirect("campaign-settings", slug=slug)
    if form.is_valid() or consent.is_valid():
        _save(request, campaign, form if what == "settings" else consent, consent_fields(text))
        return redirect("campaign-settings", slug=slug)
    context = {
        "campaign": campaign,
        "form": form,
        "consent": consent,
        "text": text,
        "options": options,
        "task_type": TASK_TYPES[campaign.task_type],
        "splits": campaign.splits.exclude(weight=0).order_by("position"),
        "may_create": can(signed_in(request), Action.CREATE_CAMPAIGN),
    }
    return render(request, "annotation/campaign_settings.html", context)


def settings_fields(campaign: Campaign) -> dict[str, Any]:
    """Return the settings of a campaign as a form shows them."""
    own = {name: getattr(campaign, name) for name in CHANGEABLE}
    return own | {"deadline_minutes": max(1, campaign.deadline_seconds // 60)}


def consent_fields(text: ConsentText | None) -> dict[str, Any]:
    """Return a consent text as a form shows it."""
    return {field.name: getattr(text, field.name) for field in fields(NewConsent)} if text else {}


def _save(request: HttpRequest, campaign: Campaign, form: SettingsForm | ConsentForm, agreed: dict[str, Any]) -> None:
    """Save the changed fields only: another manager may have changed the others meanwhile."""
    actor_id, now = signed_in(request).surrogate_id, timezone.now()
    if isinstance(form, SettingsForm):
        names = {"deadline_seconds" if name == "deadline_minutes" else name for name in form.changed_data}
        changes = {name: form.cleaned_data[name] for name in CHANGEABLE if name in names}
        changed = campaign_change(campaign=campaign, changes=changes, actor_id=actor_id, now=now)
        messages.success(request, _("Saved.") if changed else _("Nothing changed."))
    elif form.has_changed():
        consent = NewConsent(**agreed | {name: form.cleaned_data[name] for name in form.changed_data})
        consent_change(campaign=campaign, consent=consent, actor_id=actor_id, now=now)
        messages.success(request, _("Published. Annotators must agree to the new text before their next item."))
    else:
        messages.info(request, _("Nothing changed."))
