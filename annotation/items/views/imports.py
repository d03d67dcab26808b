"""The page on which a manager imports pages and items."""

import uuid
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.files.storage import default_storage
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.permissions import Action, signed_in
from annotation.access import campaign_for
from annotation.items.forms import DocumentsForm, ItemsForm, PublishedForm
from annotation.models import Batch, Campaign, Item
from annotation.tasktypes.registry import TASK_TYPES, pages_of
from jobs.models import Job
from jobs.services import job_enqueue

_IMPORTS: dict[str, tuple[type[Form], str]] = {
    "documents": (DocumentsForm, "annotation.import_documents"),
    "items": (ItemsForm, "annotation.import_items"),
    "published": (PublishedForm, "annotation.import_nq"),
}


@login_required
@require_http_methods(["GET", "POST"])
def import_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Import pages, questions, or a published file, each by a job with progress."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    forms = {name: form_class(auto_id=f"id_{name}_%s") for name, (form_class, _kind) in _IMPORTS.items()}
    forms["items"].initial["pilot"] = "pilot" in request.GET
    what = request.POST.get("what")
    if request.method == "POST" and what in _IMPORTS:
        form_class, kind = _IMPORTS[what]
        form = forms[what] = form_class(request.POST, request.FILES, auto_id=f"id_{what}_%s")
        if form.is_valid():
            _enqueue_import(request, campaign, kind, form.cleaned_data)
            messages.success(request, _("The import has started. Its progress and result are under “Imports” below."))
            return redirect("campaign-import", slug=slug)
    jobs = Job.objects.filter(scope_id=campaign.pk, kind__startswith="annotation.import").order_by("-created_at")[:10]
    preview = (
        Item.objects.filter(campaign=campaign).select_related("split", "tokenization__document").order_by("pk")[:10]
    )
    drafts = Batch.objects.filter(campaign=campaign, state="draft", items__isnull=False).distinct().order_by("ordinal")
    context = {
        "campaign": campaign,
        "forms": forms,
        "jobs": jobs,
        "preview": preview,
        "drafts": drafts,
        "pages": pages_of(campaign.task_type),
        "needs_document": TASK_TYPES[campaign.task_type].needs_document,
    }
    return render(request, "annotation/import.html", context)


def _enqueue_import(request: HttpRequest, campaign: Campaign, kind: str, data: dict[str, Any]) -> None:
    upload = data.pop("file")
    stored = default_storage.save(f"{uuid.uuid4()}", upload)
    job_enqueue(
        kind=kind,
        payload={"campaign": str(campaign.pk), "file": stored, "name": upload.name, **data},
        now=timezone.now(),
        scope_id=campaign.pk,
        requested_by_id=signed_in(request).surrogate_id,
    )
