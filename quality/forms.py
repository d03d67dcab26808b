"""Forms of quality control."""

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.forms import check_size
from quality.services.cases import MOST_EXPERTS


class SampleForm(forms.Form):
    """A sample for the experts."""

    experts = forms.IntegerField(label=_("Experts for each item"), min_value=1, max_value=MOST_EXPERTS, initial=4)
    count = forms.IntegerField(
        label=_("Items"), min_value=1, max_value=5_000, initial=139,
        help_text=_("Drawn by chance among items whose first annotation says something to judge (139 in the paper)."),
    )  # fmt: skip
    seed = forms.IntegerField(label=_("Seed"), initial=0)
    every_answer = forms.BooleanField(
        label=_("Judge every distinct answer to these items, not the first annotation alone"), required=False
    )


class GoldForm(forms.Form):
    """Gold keys to import."""

    file = forms.FileField(
        validators=[check_size], label=_("Gold keys"),
        help_text=_("Rows as for items, with a column accepted: the answers that are right."),
    )  # fmt: skip
    experts = forms.IntegerField(
        label=_("Experts who confirm each key first"), min_value=0, max_value=MOST_EXPERTS, initial=1,
        help_text=_("They judge without knowing what the key accepts. 0: the keys were confirmed elsewhere."),
    )  # fmt: skip
