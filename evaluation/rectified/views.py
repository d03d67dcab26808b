"""The page of a campaign in which systems' answers are judged: uploads, and scores in human terms."""

from uuid import uuid4

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.files.storage import default_storage
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.permissions import Action, signed_in
from annotation.campaigns.selectors.sealing import sealed_names
from annotation.items.forms import check_size
from annotation.models import Batch, BatchState, Campaign
from evaluation.models import JudgedSystem, SystemSample
from evaluation.payloads import SystemsPayload
from evaluation.rectified.services import system_remove
from evaluation.system_scores import scores_request, scores_shown
from jobs.services import job_enqueue
from measures.rectified import LEAST

MOST_COUNT = 100_000
SAMPLE = (
    "question_id,question,references,system,answer,score\n"
    "17,Who wrote Dracula?,Bram Stoker,reader-1,Stoker,1\n"
    "17,Who wrote Dracula?,Bram Stoker,reader-2,Mary Shelley,0\n"
)


class SystemsForm(forms.Form):
    """A form for uploading the answers of systems."""

    file = forms.FileField(
        validators=[check_size],
        label=_("Answers of systems"),
        help_text=_(
            "Upload a table or .jsonl file with a row per question and system: question_id, question, system, answer, and, if you have them, references and score (the automatic score). Without a score, exact match with the references is used."
        ),
    )
    count = forms.IntegerField(
        label=_("Questions to judge"),
        min_value=LEAST,
        max_value=MOST_COUNT,
        initial=200,
        help_text=_("Drawn at random by the server, the same for all systems."),
    )

    def __init__(self, campaign: Campaign, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        if SystemSample.objects.filter(campaign=campaign).exists():
            del self.fields["count"]  # drawn by the first upload


def judged_systems(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show the scores of systems in human terms; POST uploads systems."""
    may_upload = Action.MANAGE in request.campaign_actions  # type: ignore[attr-defined]
    form = SystemsForm(campaign, request.POST or None, request.FILES or None) if may_upload else None
    if request.method == "POST":
        if form is None:
            raise PermissionDenied
        if "remove" in request.POST:
            return _removed(request, campaign)
        if form.is_valid():
            return _uploaded(request, campaign, form)
    job = scores_request(campaign=campaign, now=timezone.now())
    context = {
        "campaign": campaign,
        "form": form,
        "sample": SAMPLE,
        "snapshot": scores_shown(campaign),
        "names": JudgedSystem.objects.filter(campaign=campaign).order_by("name").values_list("name", flat=True),
        "is_computing": job is not None,
        "sealed": sealed_names(campaign),
        "unlaunched": Batch.objects.filter(campaign=campaign, state=BatchState.DRAFT).exists(),
    }
    return render(request, "evaluation/systems.html", context)


def _removed(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    found = get_object_or_404(JudgedSystem, campaign=campaign, name=request.POST["remove"])
    system_remove(system=found, actor_id=signed_in(request).surrogate_id, now=timezone.now())
    messages.success(request, _("The system was removed."))
    return redirect("systems", slug=campaign.slug)


def _uploaded(request: HttpRequest, campaign: Campaign, form: SystemsForm) -> HttpResponse:
    upload = form.cleaned_data["file"]
    job = job_enqueue(
        kind="evaluation.systems",
        payload=SystemsPayload(
            campaign=str(campaign.pk),
            file=default_storage.save(f"{uuid4()}", upload),
            name=upload.name,
            count=form.cleaned_data.get("count") or LEAST,
        ),
        now=timezone.now(),
        scope_id=campaign.pk,
        requested_by_id=signed_in(request).surrogate_id,
    )
    return redirect("job", job_id=job.pk)
