"""Forms for adding systems and sending their answers to experts."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation.desk.services import MOST_BYTES
from evaluation.models import PredictedSystem
from measures.rectified import LEAST
from quality.experts.forms import SampleForm

MEGABYTES = MOST_BYTES // 2**20


class PredictionsForm(forms.Form):
    """A form for uploading the predictions of a system."""

    system = forms.CharField(label=gettext_lazy("Name of the system"), max_length=PredictedSystem.MOST_NAME)
    file = forms.FileField(
        label=gettext_lazy("Predictions"),
        help_text=gettext_lazy(
            "A JSON file in the format of the official evaluation, for the ids of a release or of the items."
        ),
    )
    least_long = forms.FloatField(
        label=gettext_lazy("Threshold for long answers"),
        required=False,
        help_text=gettext_lazy(
            "Answers with a lower score count as no answer. Leave it empty if every answer in the file counts."
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
    count = forms.IntegerField(
        label=gettext_lazy("Items"),
        min_value=LEAST,
        max_value=5_000,
        initial=100,
        help_text=gettext_lazy(
            "Drawn at random by the server from the items that all systems and an annotator answered."
        ),
    )
