"""Publishing a release from its page."""

from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from accounts.permissions import Action, signed_in
from annotation.access import campaign_for
from exports.models import Publication, Release
from exports.publishing.base import PublishError
from exports.publishing.registry import HUBS, hubs_configured
from exports.publishing.services import publication_request
from web.error_texts import error_text


class PublishForm(forms.Form):
    """A form for publishing a release."""

    hub = forms.ChoiceField(label=gettext_lazy("Publish to"))
    address = forms.CharField(
        label=gettext_lazy("Repository"),
        max_length=200,
        required=False,
        help_text=gettext_lazy("For the Hugging Face Hub: owner/name. It's created if it doesn't exist."),
    )
    is_public = forms.BooleanField(
        label=gettext_lazy("Make it public"),
        required=False,
        help_text=gettext_lazy(
            "You can't undo this: others may copy the data, and Zenodo deletes nothing. Without it, only the account on the hub sees the release, and you can make it public later."
        ),
    )
    evaluation_framework = forms.CharField(
        label=gettext_lazy("Evaluation framework"),
        max_length=60,
        required=False,
        help_text=gettext_lazy(
            "To register a benchmark on the Hugging Face Hub (eval.yaml), for example inspect-ai. Leave empty otherwise."
        ),
    )

    def __init__(self, data: object = None, **more: Any) -> None:
        super().__init__(data, **more)  # type: ignore[arg-type]
        hubs = [(hub.key, hub.title) for hub in hubs_configured()]
        cast("forms.ChoiceField", self.fields["hub"]).choices = hubs
        if not any(HUBS[key].takes_name for key, _title in hubs):
            del self.fields["address"], self.fields["evaluation_framework"]


def publications_shown(release: Release) -> dict[str, Any]:
    """Return the context of the release page's part about hubs: where the release is, and the form."""
    rows = [(HUBS[row.hub].title, row) for row in release.publications.select_related("job").order_by("hub")]
    if not hubs_configured():
        return {"publications": rows, "publish_form": None}
    last = Publication.objects.filter(release__campaign=release.campaign_id).exclude(address="").order_by("-pk").first()
    initial = {"address": last.address if last else ""}
    return {"publications": rows, "publish_form": PublishForm(initial=initial)}


@login_required
@require_POST
def publish(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Queue the publication of a release."""
    campaign = campaign_for(request, slug, Action.RELEASE)
    row = get_object_or_404(Release.objects.select_related("campaign"), campaign=campaign, number=number)
    form = PublishForm(request.POST)
    if not form.is_valid():
        messages.error(request, " ".join(str(said) for errors in form.errors.values() for said in errors))
        return redirect("release", slug=slug, number=number)
    try:
        made = publication_request(
            release=row, actor_id=signed_in(request).surrogate_id, now=timezone.now(), **form.cleaned_data
        )
    except PublishError as error:
        messages.error(request, error_text(error))
        return redirect("release", slug=slug, number=number)
    messages.success(request, _("The release is being published. The result will appear on this page."))
    return redirect("release", slug=slug, number=made.release.number)
