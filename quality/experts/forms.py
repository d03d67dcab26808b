"""Forms of the experts' work."""

from django import forms
from django.utils.translation import gettext_lazy as _

from quality.experts.services.cases import MOST_EXPERTS


class SampleForm(forms.Form):
    """A sample for the experts."""

    experts = forms.IntegerField(label=_("Experts for each item"), min_value=1, max_value=MOST_EXPERTS, initial=4)
    count = forms.IntegerField(
        label=_("Items"),
        min_value=1,
        max_value=5_000,
        initial=139,
        help_text=_("Drawn by chance among items whose first annotation says something to judge (139 in the paper)."),
    )
    least = forms.IntegerField(
        label=_("Only items that want at least so many annotations"),
        min_value=1,
        max_value=1_000,
        initial=1,
        help_text=_("25 for a study of 25 annotations."),
    )
    seed = forms.IntegerField(label=_("Seed"), initial=0)
    every_answer = forms.BooleanField(
        label=_("Judge every distinct answer to these items, not the first annotation alone"), required=False
    )
