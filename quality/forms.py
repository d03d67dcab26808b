"""Forms of quality control."""

from dataclasses import replace
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.forms import check_size
from annotation.models import Campaign, Split
from measures.audits import LEAST
from measures.targets import Target
from quality.models import WatchRule
from quality.rules.policy import LEAST_RATE, Policy, Process, SecondRound
from quality.selectors.study_plans import StudyDesign
from quality.services.audits import LEAST_TWICE, MOST
from quality.services.cases import MOST_EXPERTS


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


class StudyForm(forms.Form):
    """A study of many annotations of the same items."""

    split = forms.ModelChoiceField(label=_("Split"), queryset=Split.objects.none(), to_field_name="name")
    ways = forms.IntegerField(label=_("Annotations an item"), min_value=2, max_value=200, initial=25)
    sample = forms.IntegerField(label=_("How many items"), min_value=1, max_value=100_000, initial=302)
    seed = forms.IntegerField(label=_("Seed"), initial=0, min_value=-(2**63), max_value=2**63 - 1)
    experts = forms.IntegerField(label=_("Experts for each item"), min_value=1, max_value=MOST_EXPERTS, initial=4)

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        splits = self.fields["split"]
        assert isinstance(splits, forms.ModelChoiceField)
        splits.queryset = Split.objects.filter(campaign=campaign, weight__gt=0).order_by("position")

    def design(self) -> StudyDesign:
        """Return what is asked for."""
        return StudyDesign(**{**self.cleaned_data, "split": self.cleaned_data["split"].name})


class AuditForm(forms.Form):
    """An audit of the labels."""

    count = forms.IntegerField(
        label=_("Items"),
        min_value=LEAST,
        max_value=MOST,
        initial=400,
        help_text=_("Drawn by chance. 400 tell the share of wrong labels to about 2 in 100 either way."),
    )
    twice = forms.FloatField(
        label=_("Share that two experts judge"),
        min_value=LEAST_TWICE,
        max_value=1,
        initial=LEAST_TWICE,
        help_text=_("Tells how far experts agree with each other. At least 0.2."),
    )
    seed = forms.IntegerField(label=_("Seed"), initial=0, min_value=-(2**63), max_value=2**63 - 1)


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


class BeforeForm(forms.Form):
    """A campaign that is yet to come, to see what a target may cost."""

    items = forms.IntegerField(label=_("Items"), min_value=10, max_value=5_000, initial=500)
    accuracy = forms.FloatField(
        label=_("How often an annotator is right"),
        min_value=0.3,
        max_value=0.99,
        initial=0.8,
        help_text=_("As in a pilot, or in a campaign like this one."),
    )
    fewest = forms.IntegerField(label=_("First votes of each item"), min_value=1, max_value=20, initial=3)
    vote_cents = forms.FloatField(
        label=_("Cents for an answer, fees included"), min_value=0.01, max_value=10_000, initial=6
    )


class PolicyForm(forms.Form):
    """A new version of a campaign's policy."""

    process = forms.ChoiceField(label=_("How votes become labels"), choices=PROCESSES)
    second_round = forms.ChoiceField(label=_("What a second round counts"), choices=SECOND_ROUNDS)
    gold_first = forms.IntegerField(label=_("Gold checks among the first items"), min_value=0, max_value=100)
    gold_first_items = forms.IntegerField(label=_("So many first items"), min_value=0, max_value=1_000)
    gold_rate = forms.FloatField(
        label=_("Share of checks after that"),
        min_value=0,
        max_value=0.5,
        help_text=_("0.03 in the ANTIQUE paper; 0.05 finds careless people in half of the time."),
    )
    gold_most_exposures = forms.IntegerField(label=_("How often one key is shown"), min_value=1, max_value=10_000)
    drift_run_length = forms.IntegerField(
        label=_("Checks between false alarms of late drift"),
        min_value=0,
        max_value=1_000_000,
        help_text=_("Who does worse than before comes before a manager and works on. 0: nobody is watched for it."),
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


class RuleForm(forms.ModelForm):  # type: ignore[type-arg]  # Django's is no generic at run time
    """A rule over what people do."""

    class Meta:
        model = WatchRule
        fields = ("collector", "is_above", "limit", "window", "least", "act")
        labels = {
            "collector": _("What is looked at"),
            "is_above": _("Fires when it is"),
            "limit": _("Limit"),
            "window": _("Over the last so many"),
            "least": _("Not before there are"),
            "act": _("What it does"),
        }
        help_texts = {"limit": _("A share between 0 and 1, or seconds.")}

    limit = forms.FloatField(min_value=0, max_value=86_400, initial=0.4, label=_("Limit"))
    window = forms.IntegerField(min_value=1, max_value=1_000, initial=20, label=_("Over the last so many"))
    least = forms.IntegerField(min_value=1, max_value=1_000, initial=10, label=_("Not before there are"))

    def clean(self) -> dict[str, Any]:
        """Return the fields; no rule waits for more than it looks at."""
        data = super().clean() or {}
        if data.get("least", 0) > data.get("window", 1_000):
            self.add_error("least", _("It looks at fewer than that."))
        return data


class PilotKeysForm(forms.Form):
    """Gold keys to be made of what a pilot agreed on."""

    experts = forms.IntegerField(
        label=_("Experts who confirm each key first"),
        min_value=0,
        max_value=MOST_EXPERTS,
        initial=1,
        help_text=_("People who agree are wrong in 5 to 14 of 100 cases, on hard items far more often."),
    )


class GoldForm(forms.Form):
    """Gold keys to import."""

    file = forms.FileField(
        validators=[check_size],
        label=_("Gold keys"),
        help_text=_("Rows as for items, with a column accepted: the answers that are right."),
    )
    experts = forms.IntegerField(
        label=_("Experts who confirm each key first"),
        min_value=0,
        max_value=MOST_EXPERTS,
        initial=1,
        help_text=_("They are not told that it is a key. 0: the keys were confirmed elsewhere."),
    )
