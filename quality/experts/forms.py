"""Forms of the experts' work."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from annotation.models import Campaign
from quality.experts.selectors import experts_here
from quality.experts.services.cases import MOST_EXPERTS


class SampleForm(forms.Form):
    """A form for drawing a sample for a campaign's experts."""

    def __init__(self, campaign: Campaign, *data: Any, **kwargs: Any) -> None:
        super().__init__(*data, **kwargs)
        self._campaign = campaign

    def clean_experts(self) -> int:
        """Reject more experts per item than the campaign has."""
        experts: int = self.cleaned_data["experts"]
        there = experts_here(self._campaign)
        if experts > there:
            said = ngettext(
                "This campaign has %(n)s expert. Invite more experts, or enter a smaller number.",
                "This campaign has %(n)s experts. Invite more experts, or enter a smaller number.",
                there,
            )
            raise forms.ValidationError(said, params={"n": there})
        return experts

    experts = forms.IntegerField(label=_("Experts per item"), min_value=1, max_value=MOST_EXPERTS, initial=2)
    count = forms.IntegerField(
        label=_("Items"),
        min_value=1,
        max_value=5_000,
        help_text=_(
            "Items are drawn at random from those whose first annotation has an answer to judge. The Natural Questions paper used 139 items."
        ),
    )
    least = forms.IntegerField(
        label=_("Minimum annotations requested per item"),
        min_value=1,
        max_value=1_000,
        initial=1,
        help_text=_("Use 25 for a study with 25 annotations per item."),
    )
    seed = forms.IntegerField(label=_("Seed"), initial=0)
    every_answer = forms.BooleanField(
        label=_("Judge every distinct answer to these items, not only the first annotation"), required=False
    )
