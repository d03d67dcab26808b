"""Forms of quality control and of workforces."""

from decimal import Decimal
from typing import Any

from django import forms
from django.core.validators import FileExtensionValidator
from django.utils.translation import gettext_lazy as _

from workforces.kinds.base import Unsigned
from workforces.kinds.registry import KINDS


class DollarsField(forms.DecimalField):
    """An amount that people write in dollars and the platform keeps in cents; its limits are in dollars."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(decimal_places=2, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        """Return cents as dollars; what was typed stays as it is."""
        return (Decimal(value) / 100).quantize(Decimal("0.01")) if isinstance(value, int) else value

    def clean(self, value: Any) -> Any:
        """Return cents."""
        dollars = super().clean(value)
        return None if dollars is None else int(dollars * 100)


class MinutesField(forms.IntegerField):
    """A time that people write in minutes and the platform keeps in seconds; its limits are in minutes."""

    def prepare_value(self, value: Any) -> Any:
        """Return seconds as minutes; what was typed stays as it is."""
        return f"{value / 60:g}" if isinstance(value, int) else value

    def clean(self, value: Any) -> Any:
        """Return seconds."""
        minutes = super().clean(value)
        return None if minutes is None else 60 * minutes


class MTurkForm(forms.Form):
    """What a posting says and pays: asked for in dollars and minutes, kept in cents and seconds."""

    title = forms.CharField(label=_("Title"), max_length=128, initial="How well does an answer answer a question?")
    description = forms.CharField(
        label=_("Description"), max_length=2000, initial="Read a question and an answer, and choose one of four labels."
    )
    reward_cents = DollarsField(label=_("Reward for a task ($)"), min_value=Decimal("0.01"), max_value=100, initial=5)
    training_bonus_cents = DollarsField(
        label=_("Bonus for the training round ($)"), min_value=0, max_value=100, initial=25
    )
    items_per_ticket = forms.IntegerField(label=_("Items in a task"), min_value=1, max_value=100, initial=1)
    qualification = forms.ChoiceField(
        label=_("Who may take it"),
        choices=[
            ("paper", _("As in ANTIQUE: over 98 % approved, at least 5,000 tasks")),
            ("own", _("Our own crowd: anybody there")),
        ],
    )
    cap_cents = DollarsField(
        label=_("Spend at most ($)"),
        min_value=Decimal("0.01"),
        max_value=10_000_000,
        required=False,
        help_text=_("Nothing new is posted beyond it."),
    )
    floor_cents_per_hour = DollarsField(label=_("Pay an hour at least ($)"), min_value=0, max_value=1000, initial=900)
    approve_after_seconds = MinutesField(label=_("Approve after (minutes)"), min_value=0, initial=86_400)
    undo_seconds = MinutesField(label=_("Decisions can be undone for (minutes)"), min_value=0, initial=600)
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
    reward_cents = DollarsField(label=_("Reward for a visit ($)"), min_value=0, max_value=1000, initial=200)
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

    def __init__(self, data: Any = None, *, initial: dict[str, Any] | None = None, **kwargs: Any) -> None:
        proposed = dict(initial or {})
        if "reward_cents" in proposed:  # of one item
            proposed["reward_cents"] *= self.base_fields["items_per_ticket"].initial
        super().__init__(data, initial=proposed, **kwargs)


class PanelListForm(forms.Form):
    """A panel's list of its people and their visits."""

    file = forms.FileField(
        label=_("Confirmed visits (CSV)"),
        validators=[FileExtensionValidator(["csv", "tsv", "jsonl"])],
        help_text=_(
            "The panel's export: a column with the person and one with the visit (Prolific's own is understood)."
        ),
    )
