"""Forms for adding systems and sending their answers to experts."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.models import Campaign
from evaluation.models import PredictedSystem
from evaluation.predicted.services import MOST_BYTES
from quality.experts.forms import SampleForm

MEGABYTES = MOST_BYTES // 2**20
USUAL, MOST_DRAWN = 100, 5_000


class PredictionsForm(forms.Form):
    """A form for uploading the predictions of a system."""

    system = forms.CharField(label=gettext_lazy("Name of the system"), max_length=PredictedSystem.MOST_NAME)
    file = forms.FileField(
        label=gettext_lazy("Predictions"),
        help_text=gettext_lazy(
            "A JSON file in the format of the official evaluation. Use the example_id of the files of a release."
        ),
    )
    least_long = forms.FloatField(
        label=gettext_lazy("Threshold for long answers"),
        required=False,
        help_text=gettext_lazy(
            "Answers with a lower score count as no answer. Leave it empty if the file has only the answers that count."
        ),
    )
    least_short = forms.FloatField(label=gettext_lazy("Threshold for short answers"), required=False)

    def clean_file(self) -> Any:
        """Refuse files that are too large."""
        upload = self.cleaned_data["file"]
        if upload.size > MOST_BYTES:
            raise forms.ValidationError(_("The file is larger than %(most)s MB."), params={"most": MEGABYTES})
        return upload


class PredictionsSampleForm(SampleForm):
    """A form for sending systems' answers to experts."""

    least = None  # type: ignore[assignment]
    seed = None  # type: ignore[assignment]
    every_answer = None  # type: ignore[assignment]
    count = forms.IntegerField(label=gettext_lazy("Items"), min_value=1, max_value=MOST_DRAWN)

    def __init__(self, campaign: Campaign, left: int | None, *data: Any, **kwargs: Any) -> None:
        super().__init__(campaign, *data, **kwargs)
        count = self.fields["count"]
        count.initial = USUAL if left is None else min(USUAL, left)
        count.help_text = _("Drawn at random by the server from the items that all systems and an annotator answered.")
        if left is not None:
            more = ngettext("%(n)s item can still be drawn.", "%(n)s items can still be drawn.", left) % {"n": left}
            count.help_text = f"{count.help_text} {more}"
