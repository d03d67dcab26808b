"""The form of a forecast."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _


class PlanForm(forms.Form):
    """The settings of a plan."""

    items = forms.IntegerField(label=_("Items"), min_value=1, max_value=10_000_000)
    votes = forms.IntegerField(label=_("Votes per item in the first round"), min_value=1, max_value=50, initial=3)
    people = forms.IntegerField(label=_("Number of annotators"), min_value=2, max_value=20_000, initial=60)
    reward_cents = forms.IntegerField(label=_("Reward per answer (cents)"), min_value=0, max_value=100_000, initial=5)
    answers_a_day = forms.FloatField(
        label=_("Average answers per annotator per day"), min_value=0.1, max_value=10_000, initial=60
    )
    no_majority = forms.FloatField(
        label=_("Share of items without a majority among careful annotators"),
        min_value=0,
        max_value=0.9,
        initial=0.13,
        help_text=_("The ANTIQUE paper reports 0.13. A pilot gives a better estimate."),
    )
    spam = forms.FloatField(
        label=_("Share of work by careless annotators"),
        min_value=0,
        max_value=0.8,
        initial=0.1,
        help_text=_(
            "Enter the share before quality control stops these annotators. How soon it stops them depends on the policy."
        ),
    )
    error = forms.FloatField(
        label=_("Error target for the comparison (share of wrong labels)"), min_value=0.001, max_value=0.5, initial=0.1
    )
    budget = forms.DecimalField(
        label=_("Budget for extra votes in the comparison (dollars)"), min_value=0, max_value=10_000_000, initial=200
    )
    seed = forms.IntegerField(label=_("Seed"), min_value=0, max_value=2**31, initial=1)

    def clean(self) -> dict[str, object]:
        """Refuse settings that can't be simulated."""
        given: dict[str, object] = super().clean() or {}
        people, votes = given.get("people"), given.get("votes")
        if isinstance(people, int) and isinstance(votes, int) and people <= votes:
            self.add_error("people", _("Enter more annotators than votes per item."))
        return given

    def asked(self) -> dict[str, Any]:
        """Return the valid settings, as a job's payload holds them."""
        return self.cleaned_data | {"budget": float(self.cleaned_data["budget"])}
