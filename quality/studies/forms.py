"""Forms for studies."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.models import Campaign, Split
from quality.experts.services.cases import MOST_EXPERTS
from quality.studies.selectors.designs import StudyDesign


class StudyForm(forms.Form):
    """A form for a study of many annotations of the same items."""

    split = forms.ModelChoiceField(label=_("Split"), queryset=Split.objects.none(), to_field_name="name")
    ways = forms.IntegerField(label=_("Annotations per item"), min_value=2, max_value=200, initial=25)
    sample = forms.IntegerField(label=_("Number of items"), min_value=1, max_value=100_000, initial=302)
    seed = forms.IntegerField(label=_("Seed"), initial=0, min_value=-(2**63), max_value=2**63 - 1)
    experts = forms.IntegerField(label=_("Experts per item"), min_value=1, max_value=MOST_EXPERTS, initial=4)

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        splits = self.fields["split"]
        assert isinstance(splits, forms.ModelChoiceField)
        splits.queryset = Split.objects.filter(campaign=campaign, weight__gt=0).order_by("position")

    def design(self) -> StudyDesign:
        """Return the submitted design."""
        return StudyDesign(**{**self.cleaned_data, "split": self.cleaned_data["split"].name})
