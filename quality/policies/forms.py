"""Forms for a campaign's policy."""

from dataclasses import replace
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from measures.targets import Target
from quality.experts.services.cases import MOST_EXPERTS
from quality.policies.policy import LEAST_RATE, Policy, Process, SecondRound

PROCESSES = [
    (Process.PAPER, _("As in the ANTIQUE paper: majority, then a second round, then experts")),
    (Process.FIXED, _("Fixed number of votes per item: the most frequent label wins, and experts decide ties")),
    (Process.TARGET, _("Adaptive voting: extra votes for uncertain labels until the error target is reached")),
]


SECOND_ROUNDS = [
    (SecondRound.ALONE, _("Only the second round")),
    (SecondRound.POOLED, _("Both rounds")),
]


class TargetForm(forms.Form):
    """A form for the accepted error and the prices when votes are bought."""

    error = forms.FloatField(
        label=_("Acceptable share of wrong labels"),
        min_value=0.001,
        max_value=0.5,
        initial=0.05,
        help_text=_("For example, 0.05 allows 5 wrong labels per 100."),
    )
    budget = forms.DecimalField(
        label=_("Budget (dollars)"),
        min_value=0,
        max_value=1_000_000,
        decimal_places=2,
        initial=100,
        help_text=_("Covers extra votes and expert judgments."),
    )
    most = forms.IntegerField(label=_("Maximum votes per item"), min_value=1, max_value=100, initial=9)
    expert = forms.DecimalField(
        label=_("Cost per expert judgment (dollars)"),
        min_value=0,
        max_value=1_000,
        decimal_places=2,
        initial=0,
        help_text=_("Enter 0 if experts aren't paid per item."),
    )

    @staticmethod
    def initial_of(target: Target) -> dict[str, Any]:
        """Return the initial values of the fields for a target."""
        budget, expert = (f"{cents / 100:.2f}" for cents in (target.budget_cents, target.expert_cents))
        return {"error": target.error, "budget": budget, "most": target.most, "expert": expert}

    def target(self) -> Target:
        """Return the submitted target."""
        data = self.cleaned_data
        return Target(
            error=data["error"],
            budget_cents=int(data["budget"] * 100),
            most=data["most"],
            expert_cents=int(data["expert"] * 100),
        )


class PolicyForm(forms.Form):
    """A form for a new version of a campaign's policy."""

    process = forms.ChoiceField(label=_("How votes become labels"), choices=PROCESSES)
    second_round = forms.ChoiceField(label=_("Votes counted after a second round"), choices=SECOND_ROUNDS)
    gold_first = forms.IntegerField(label=_("Gold checks in the initial phase"), min_value=0, max_value=100)
    gold_first_items = forms.IntegerField(label=_("Length of the initial phase (items)"), min_value=0, max_value=1_000)
    gold_rate = forms.FloatField(
        label=_("Share of gold checks after the initial phase"),
        min_value=0,
        max_value=0.5,
        help_text=_("The ANTIQUE paper uses 0.03. At 0.05, careless annotators are found in half the time."),
    )
    gold_most_exposures = forms.IntegerField(label=_("Maximum uses per gold question"), min_value=1, max_value=10_000)
    drift_run_length = forms.IntegerField(
        label=_("Average number of checks between false drift alarms"),
        min_value=0,
        max_value=1_000_000,
        help_text=_("Annotators whose accuracy drops are flagged but can keep working. 0 turns this off."),
    )
    inspection_rate = forms.FloatField(
        label=_("Share of each annotator's work to spot-check"), min_value=0, max_value=1
    )
    experts = forms.IntegerField(
        label=_("Experts per case"),
        min_value=1,
        max_value=MOST_EXPERTS,
        help_text=_("The number of experts who judge an item that is sent to experts."),
    )
    decide_hours = forms.IntegerField(label=_("Time to review a paused annotator (hours)"), min_value=1, max_value=720)
    ask_first = forms.BooleanField(
        label=_("Ask a manager before anyone is paused"),
        required=False,
        help_text=_(
            "Gold checks and rules then open a review, and nobody is paused automatically. Until a manager decides, the annotator gets three times as many gold checks."
        ),
    )

    def without_votes(self) -> None:
        """Remove the fields about votes and labels."""
        for name in ("process", "second_round"):
            del self.fields[name]

    def policy(self, current: Policy) -> Policy:
        """Return the submitted policy; settings that aren't in the form stay unchanged."""
        given = dict(self.cleaned_data)
        for name, kind in (("process", Process), ("second_round", SecondRound)):
            if name in given:
                given[name] = kind(given[name])
        return replace(current, **given)

    def clean(self) -> dict[str, Any]:
        """Return the fields; refuse more checks than items."""
        data = super().clean() or {}
        if data.get("gold_first", 0) > data.get("gold_first_items", 0):
            self.add_error("gold_first", _("Enter at most the length of the initial phase."))
        if 0 < data.get("gold_rate", 0) < LEAST_RATE:
            self.add_error("gold_rate", _("Enter 0 or at least 0.001."))
        if 0 < data.get("drift_run_length", 0) < 100:
            self.add_error(
                "drift_run_length", _("Enter 0 or at least 100. Smaller values cause constant false alarms.")
            )
        return data


class PlanForm(forms.Form):
    """A form for the size of a campaign, to see the effects of a policy."""

    people = forms.IntegerField(label=_("Annotators"), min_value=1, max_value=100_000, initial=100)
    items_each = forms.IntegerField(label=_("Items per annotator"), min_value=1, max_value=1_000, initial=250)
