"""The form for creating a token."""

from typing import Any, cast

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.models import Campaign
from api.models import TokenScope
from api.tokens.services import MOST_DAYS


class TokenForm(forms.Form):
    """A token to create."""

    name = forms.CharField(
        label=_("Name"), max_length=100, help_text=_("The purpose of the token, for example “nightly export”.")
    )
    scopes = forms.MultipleChoiceField(
        label=_("Scopes"),
        choices=TokenScope.choices,
        initial=[TokenScope.READ],
        widget=forms.CheckboxSelectMultiple,
        help_text=_("A token never allows more than your own roles."),
    )
    campaign = forms.ModelChoiceField(
        label=_("Campaign"),
        queryset=Campaign.objects.none(),
        required=False,
        empty_label=_("All your campaigns"),
        to_field_name="slug",
    )
    days = forms.IntegerField(label=_("Valid for (days)"), min_value=1, max_value=MOST_DAYS, initial=90)

    def __init__(self, campaigns: Any, data: Any = None) -> None:
        super().__init__(data)
        cast("forms.ModelChoiceField[Campaign]", self.fields["campaign"]).queryset = campaigns
