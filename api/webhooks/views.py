"""The page on which managers create webhooks, see what was sent, and send it again."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from accounts.permissions import Action, signed_in
from annotation.access import campaign_for
from api.models import Webhook, WebhookDelivery, WebhookForm
from api.webhooks.forms import NewWebhookForm
from api.webhooks.messages import secret_of
from api.webhooks.services import (
    WebhookError,
    delivery_replay,
    webhook_create,
    webhook_delete,
    webhook_enable,
    webhook_rotate,
)
from jobs.events import KINDS
from web.error_texts import error_text

SHOWN = 50  # messages


@login_required
@require_http_methods(["GET", "POST"])
def webhooks(request: HttpRequest, slug: str) -> HttpResponse:
    """List the webhooks of a campaign and their latest messages; POST creates one, whose secret is shown once."""
    campaign, made = campaign_for(request, slug, Action.MANAGE), None
    form = NewWebhookForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        actor_id, now = signed_in(request).surrogate_id, timezone.now()
        try:
            made = webhook_create(campaign=campaign, actor_id=actor_id, now=now, **form.cleaned_data)
        except WebhookError as error:
            form.add_error("url" if error.key in ("webhook_url", "webhook_mail") else None, error_text(error))
    return _page(request, slug, made, NewWebhookForm() if made else form)


def _page(request: HttpRequest, slug: str, made: Webhook | None, form: NewWebhookForm) -> HttpResponse:
    campaign = campaign_for(request, slug, Action.MANAGE)
    sent = WebhookDelivery.objects.filter(webhook__campaign=campaign).select_related("event", "webhook")
    context = {
        "campaign": campaign,
        "form": form,
        "secret": secret_of(made) if made and made.form == WebhookForm.STANDARD else "",
        "made": made,
        "webhooks": Webhook.objects.filter(campaign=campaign).order_by("created_at", "pk"),
        "deliveries": [(row, _(KINDS[row.event.kind])) for row in sent.order_by("-event_id", "pk")[:SHOWN]],
    }
    response = render(request, "api/webhooks.html", context)
    response["Cache-Control"] = "private, no-store"
    return response


@login_required
@require_POST
def change(request: HttpRequest, slug: str, webhook_id: UUID) -> HttpResponse:
    """Delete a webhook, give it a new secret, or turn it on again."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    webhook = get_object_or_404(Webhook.objects.select_related("campaign"), campaign=campaign, pk=webhook_id)
    actor_id, now, what = signed_in(request).surrogate_id, timezone.now(), request.POST.get("what")
    if what == "rotate":
        made = webhook_rotate(webhook=webhook, actor_id=actor_id, now=now)
        return _page(request, slug, made, NewWebhookForm())
    if what == "enable":
        webhook_enable(webhook=webhook, actor_id=actor_id, now=now)
        messages.success(request, _("The webhook is on again."))
    elif what == "delete":
        webhook_delete(webhook=webhook, actor_id=actor_id, now=now)
        messages.success(request, _("Webhook deleted."))
    return redirect("campaign-webhooks", slug=slug)


@login_required
@require_POST
def replay(request: HttpRequest, slug: str, delivery_id: UUID) -> HttpResponse:
    """Send a message again."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    row = get_object_or_404(WebhookDelivery, pk=delivery_id, webhook__campaign=campaign)
    delivery_replay(delivery=row, now=timezone.now())
    messages.success(request, _("The message is being sent again."))
    return redirect("campaign-webhooks", slug=slug)
