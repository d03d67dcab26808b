"""Forms of quality control and of workforces."""

from typing import Any

from django import forms
from django.core.validators import FileExtensionValidator
from django.utils.translation import gettext_lazy as _

from workforces.kinds.base import Unsigned
from workforces.kinds.registry import KINDS


class MTurkForm(forms.Form):
    """What a posting says and pays. Amounts in US cents."""

    title = forms.CharField(label=_("Title"), max_length=128, initial="How well does an answer answer a question?")
    description = forms.CharField(
        label=_("Description"), max_length=2000, initial="Read a question and an answer, and choose one of four labels."
    )
    reward_cents = forms.IntegerField(label=_("Reward for a task (cents)"), min_value=1, max_value=10_000, initial=5)
    training_bonus_cents = forms.IntegerField(
        label=_("Bonus for the training round (cents)"), min_value=0, max_value=10_000, initial=25
    )
    items_per_ticket = forms.IntegerField(label=_("Items in a task"), min_value=1, max_value=100, initial=1)
    qualification = forms.ChoiceField(
        label=_("Who may take it"),
        choices=[("paper", _("As in ANTIQUE: over 98 % approved, at least 5,000 tasks")), ("own", _("Our own crowd: anybody there"))],
    )  # fmt: skip
    cap_cents = forms.IntegerField(
        label=_("Spend at most (cents)"), min_value=1, required=False, help_text=_("Nothing new is posted beyond it.")
    )
    floor_cents_per_hour = forms.IntegerField(label=_("Pay an hour at least (cents)"), min_value=0, initial=900)
    approve_after_seconds = forms.IntegerField(label=_("Approve after (seconds)"), min_value=0, initial=86_400)
    undo_seconds = forms.IntegerField(label=_("Decisions can be undone for (seconds)"), min_value=0, initial=600)
    has_fees = forms.BooleanField(label=_("The marketplace takes a fee of 20 %"), required=False, initial=True)
    people = forms.IntegerField(label=_("People you expect"), min_value=1, max_value=100_000, initial=20)
    seconds_each = forms.IntegerField(
        label=_("Seconds you expect for an item"), min_value=1, max_value=3600, initial=20
    )

    kind = "mturk"

    def terms(self) -> dict[str, Any]:
        """Return the terms, without what only the estimate needs."""
        return {name: value for name, value in self.cleaned_data.items() if name not in ("people", "seconds_each")}

    def clean(self) -> dict[str, Any] | None:
        """Return what the workforce itself finds wrong."""
        data = super().clean()
        if data is not None and not self.errors:
            try:
                KINDS[self.kind].terms_class(**self.terms())
            except ValueError as error:
                raise forms.ValidationError(str(error)) from error
        return data


class LinkForm(MTurkForm):
    """A link for a panel."""

    title = description = qualification = approve_after_seconds = undo_seconds = has_fees = None  # type: ignore[assignment]
    training_bonus_cents = None  # type: ignore[assignment]
    items_per_ticket = forms.IntegerField(label=_("Items in a visit"), min_value=1, max_value=100, initial=10)
    reward_cents = forms.IntegerField(
        label=_("Reward for a visit (cents)"), min_value=0, max_value=100_000, initial=200
    )
    person_parameter = forms.CharField(label=_("Parameter with the person"), initial="PROLIFIC_PID")
    visit_parameter = forms.CharField(label=_("Parameter with the visit"), initial="SESSION_ID")
    code_completed = forms.CharField(label=_("Code: completed"))
    code_screened_out = forms.CharField(label=_("Code: screened out"))
    code_nothing_left = forms.CharField(label=_("Code: nothing left"))
    return_url = forms.URLField(label=_("Where people go back to"), required=False, assume_scheme="https")
    unsigned = forms.ChoiceField(
        label=_("Addresses that the panel did not sign"),
        choices=[
            (Unsigned.WAIT, _("Work counts when the panel's list confirms it")),
            (Unsigned.COUNT, _("Work counts at once: anybody who knows the link can invent people")),
            (Unsigned.REFUSE, _("Not let in")),
        ],
        initial=Unsigned.WAIT,
    )

    kind = "link"


class PanelListForm(forms.Form):
    """A panel's list of its people and their visits."""

    file = forms.FileField(
        label=_("Confirmed visits (CSV)"),
        validators=[FileExtensionValidator(["csv", "tsv", "jsonl"])],
        help_text=_("The panel's export: a column with the person and one with the visit (Prolific's own is understood)."),
    )  # fmt: skip
