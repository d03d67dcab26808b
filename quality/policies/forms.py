"""Forms of a campaign's policy."""

from dataclasses import replace
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from measures.targets import Target
from quality.experts.services.cases import MOST_EXPERTS
from quality.policies.policy import LEAST_RATE, Policy, Process, SecondRound

PROCESSES = [
    (Process.PAPER, _("As the ANTIQUE paper: a majority, else a second round, else experts")),
    (Process.FIXED, _("As many votes for each item: most votes decide, else experts")),
    (Process.TARGET, _("Votes where the doubt is, until few enough labels are wrong")),
]


SECOND_ROUNDS = [
    (SecondRound.ALONE, _("The second round alone")),
    (SecondRound.POOLED, _("Both rounds together")),
]


class TargetForm(forms.Form):
    """What a manager accepts and pays where votes are bought."""

    error = forms.FloatField(
        label=_("Share of wrong labels that is acceptable"),
        min_value=0.001,
        max_value=0.5,
        initial=0.05,
        help_text=_("0.05: five of 100."),
    )
    budget = forms.DecimalField(
        label=_("Budget in dollars"),
        min_value=0,
        max_value=1_000_000,
        decimal_places=2,
        initial=100,
        help_text=_("For votes beyond each item's first ones, and for experts."),
    )
    most = forms.IntegerField(label=_("Most votes of an item"), min_value=1, max_value=100, initial=9)
    expert = forms.DecimalField(
        label=_("Dollars for an item that goes to experts"),
        min_value=0,
        max_value=1_000,
        decimal_places=2,
        initial=0,
        help_text=_("0: they are not paid by the item."),
    )

    @staticmethod
    def initial_of(target: Target) -> dict[str, Any]:
        """Return what the fields show of a target."""
        budget, expert = (f"{cents / 100:.2f}" for cents in (target.budget_cents, target.expert_cents))
        return {"error": target.error, "budget": budget, "most": target.most, "expert": expert}

    def target(self) -> Target:
        """Return the target that was entered."""
        data = self.cleaned_data
        return Target(
            error=data["error"],
            budget_cents=int(data["budget"] * 100),
            most=data["most"],
            expert_cents=int(data["expert"] * 100),
        )


class PolicyForm(forms.Form):
    """A new version of a campaign's policy."""

    process = forms.ChoiceField(label=_("How votes become labels"), choices=PROCESSES)
    second_round = forms.ChoiceField(label=_("What a second round counts"), choices=SECOND_ROUNDS)
    gold_first = forms.IntegerField(label=_("Gold checks among the first items"), min_value=0, max_value=100)
    gold_first_items = forms.IntegerField(label=_("Length of the initial phase (items)"), min_value=0, max_value=1_000)
    gold_rate = forms.FloatField(
        label=_("Share of checks after that"),
        min_value=0,
        max_value=0.5,
        help_text=_("0.03 in the ANTIQUE paper; 0.05 finds careless people in half of the time."),
    )
    gold_most_exposures = forms.IntegerField(label=_("How often one key is shown"), min_value=1, max_value=10_000)
    drift_run_length = forms.IntegerField(
        label=_("Average checks between false drift alarms"),
        min_value=0,
        max_value=1_000_000,
        help_text=_("Annotators whose accuracy drops are flagged but can keep working. 0 turns this off."),
    )
    inspection_rate = forms.FloatField(label=_("Share of each person's work that is read"), min_value=0, max_value=1)
    experts = forms.IntegerField(label=_("Experts for an item without agreement"), min_value=1, max_value=MOST_EXPERTS)
    decide_hours = forms.IntegerField(label=_("Hours to decide about a paused annotator"), min_value=1, max_value=720)

    def without_votes(self) -> None:
        """Leave out what says how votes become labels."""
        for name in ("process", "second_round"):
            del self.fields[name]

    def policy(self, current: Policy) -> Policy:
        """Return the policy that was entered; what the form does not ask for stays."""
        given = dict(self.cleaned_data)
        for name, kind in (("process", Process), ("second_round", SecondRound)):
            if name in given:
                given[name] = kind(given[name])
        return replace(current, **given)

    def clean(self) -> dict[str, Any]:
        """Return the fields; more checks than items make no sense."""
        data = super().clean() or {}
        if data.get("gold_first", 0) > data.get("gold_first_items", 0):
            self.add_error("gold_first", _("There are fewer first items than that."))
        if 0 < data.get("gold_rate", 0) < LEAST_RATE:
            self.add_error("gold_rate", _("Either 0 or at least 0.001."))
        if 0 < data.get("drift_run_length", 0) < 100:
            self.add_error("drift_run_length", _("Fewer than 100 would alarm all the time."))
        return data


class PlanForm(forms.Form):
    """The size of a campaign, to see what a policy comes to."""

    people = forms.IntegerField(label=_("People"), min_value=1, max_value=100_000, initial=100)
    items_each = forms.IntegerField(label=_("Items of each"), min_value=1, max_value=1_000, initial=250)
