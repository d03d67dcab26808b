"""The manager's pages about a campaign as a whole."""

import zoneinfo
from dataclasses import fields
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import ConsentText
from accounts.parameters import whole_number
from accounts.permissions import Action, can, signed_in
from accounts.selectors import consent_text_current
from annotation.access import campaign_for
from annotation.campaigns.effort import effort_of
from annotation.campaigns.forms import CampaignForm, EffortForm, ExtendForm, defaults_of
from annotation.campaigns.selectors.campaigns import guideline_current
from annotation.campaigns.selectors.overview import overview_of
from annotation.campaigns.services.campaigns import NewConsent, batch_schedule, campaign_create, campaign_move
from annotation.campaigns.services.numbers import numbers_request
from annotation.campaigns.views.settings import consent_fields, settings_fields
from annotation.models import Batch, Campaign, CampaignState
from annotation.payloads import ExtendPayload
from annotation.slots.services.slots import launch_request
from annotation.tasktypes.registry import TASK_TYPES, pages_of
from jobs.models import Job, JobState
from jobs.services import job_enqueue


@login_required
@require_http_methods(["GET", "POST"])
def create(request: HttpRequest) -> HttpResponse:
    """Create a campaign in one form."""
    user = signed_in(request)
    if not can(user, Action.CREATE_CAMPAIGN):
        raise PermissionDenied
    wanted = request.GET.get("like")
    like = Campaign.objects.filter(slug=wanted).first() if wanted else None
    task_type = request.GET.get("task_type", "")
    initial = defaults_of(task_type if task_type in TASK_TYPES else next(iter(TASK_TYPES)), request.GET)
    if like:
        initial |= _like(like)
    form = CampaignForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        data = dict(form.cleaned_data)
        consent = NewConsent(**{field.name: data.pop(field.name) for field in fields(NewConsent)})
        guidelines = guideline_current(like).body if like and like.task_type == data["task_type"] else ""
        campaign = campaign_create(consent=consent, created_by=user, now=timezone.now(), guidelines=guidelines, **data)
        messages.success(request, _("Campaign created. Next: import items."))
        return redirect("campaign-import", slug=campaign.slug)
    context = {"form": form, "like": like, "effort_form": EffortForm(initial=initial)}
    return render(request, "annotation/campaign_new.html", context)


@login_required
@require_POST
def preview(request: HttpRequest) -> HttpResponse:
    """Show the estimated effort of a campaign being created, and its texts, from the fields filled in so far."""
    if not can(signed_in(request), Action.CREATE_CAMPAIGN):
        raise PermissionDenied
    form, wanted = CampaignForm(request.POST), EffortForm(request.POST)
    is_known = wanted.is_valid()
    form.is_valid()
    sent = form.cleaned_data
    splits = [(split.name, split.n, split.weight) for split in sent.get("splits", [])]
    task_type = sent.get("task_type") or next(iter(TASK_TYPES))
    names = [field.name for field in fields(NewConsent)]
    context = {
        "campaign": Campaign(**{name: sent.get(name, "") for name in ("title", "content_warning", "language")}),
        "text": ConsentText(**{name: sent[name] for name in names if name in sent}),
        "effort": effort_of(splits, **wanted.cleaned_data) if is_known and splits else None,
        "examples": TASK_TYPES[task_type].examples,
        "pages": pages_of(task_type),
    }
    return render(request, "annotation/_campaign_preview.html", context)


def _like(campaign: Campaign) -> dict[str, Any]:
    """Return the initial values of the form of a new campaign, copied from another campaign."""
    splits = campaign.splits.exclude(weight=0).order_by("position")
    lines = [f"{split.name} {split.n} {split.weight}" for split in splits]
    names = ("task_type", "language", "group_by", "has_training")
    own = {name: getattr(campaign, name) for name in names} | settings_fields(campaign)
    own |= consent_fields(consent_text_current(campaign.pk))
    return own | {"title": _("%(title)s (copy)") % {"title": campaign.title}, "splits": "\n".join(lines)}


@login_required
@require_http_methods(["GET"])
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the state of a campaign, from numbers that a job computed."""
    campaign = campaign_for(request, slug, Action.SEE_CAMPAIGN)
    job = numbers_request(campaign=campaign, now=timezone.now())
    may_manage = can(signed_in(request), Action.MANAGE, campaign.pk)
    launching = Job.objects.filter(
        scope_id=campaign.pk, kind="annotation.launch", state__in=[JobState.QUEUED, JobState.RUNNING]
    ).first()
    context = {
        "campaign": campaign,
        "launching": launching,
        "is_recalculating": job is not None,
        "may_manage": may_manage,
        "extend_form": ExtendForm(campaign),
        "partial": request.headers.get("HX-Request") == "true",
        **overview_of(campaign, named=may_manage),
    }
    return render(request, "annotation/_overview.html" if context["partial"] else "annotation/overview.html", context)


@login_required
@require_POST
def launch(request: HttpRequest, slug: str) -> HttpResponse:
    """Launch a batch, and open the campaign if it is still a draft."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    batch = get_object_or_404(Batch, campaign=campaign, ordinal=whole_number(request.POST.get("batch")))
    actor_id = signed_in(request).surrogate_id
    now = timezone.now()
    launch_request(batch=batch, actor_id=actor_id, now=now)
    campaign_move(campaign=campaign, to=CampaignState.OPEN, actor_id=actor_id, now=now)
    messages.success(request, _("Batch launched. Annotators can now work on its items."))
    return redirect("campaign", slug=slug)


@login_required
@require_POST
def schedule(request: HttpRequest, slug: str) -> HttpResponse:
    """Schedule the launch of a batch, at a time in the campaign's time zone."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    at = _moment(request.POST.get("at", ""))
    batch = get_object_or_404(Batch, campaign=campaign, ordinal=whole_number(request.POST.get("batch")))
    if at is None:
        messages.error(request, _("Enter a date and time."))
        return redirect("campaign", slug=slug)
    opens_at = timezone.make_aware(at, zoneinfo.ZoneInfo(campaign.time_zone))
    batch_schedule(batch=batch, opens_at=opens_at, actor_id=signed_in(request).surrogate_id, now=timezone.now())
    messages.success(request, _("Launch scheduled."))
    return redirect("campaign", slug=slug)


def _moment(text: str) -> datetime | None:
    """Return a time from a form, without a time zone; None for anything else."""
    try:
        moment = parse_datetime(text)
    except ValueError:
        return None
    return moment if moment is not None and timezone.is_naive(moment) else None


@login_required
@require_POST
def move(request: HttpRequest, slug: str) -> HttpResponse:
    """Open, pause or close a campaign."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    to = request.POST.get("to")
    if to in (CampaignState.OPEN, CampaignState.PAUSED, CampaignState.CLOSED):
        actor_id = signed_in(request).surrogate_id
        campaign_move(campaign=campaign, to=CampaignState(to), actor_id=actor_id, now=timezone.now())
    return redirect("campaign", slug=slug)


@login_required
@require_POST
def extend(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask for more annotations of a seeded sample."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    form = ExtendForm(campaign, request.POST)
    if form.is_valid():
        asked = form.cleaned_data
        actor_id = signed_in(request).surrogate_id
        job = job_enqueue(
            kind="annotation.extend",
            payload=ExtendPayload(
                campaign=str(campaign.pk),
                split=asked["split"].name,
                n=asked["n"],
                sample=asked["sample"],
                seed=asked["seed"],
            ),
            now=timezone.now(),
            scope_id=campaign.pk,
            requested_by_id=actor_id,
        )
        return redirect("job", job_id=job.pk)
    messages.error(
        request,
        _("The request for extra annotations isn't valid. Check the split, annotations per item, and number of items."),
    )
    return redirect("campaign", slug=slug)
