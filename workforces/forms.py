"""The shared parts of forms for terms: amounts in dollars, times in minutes, and terms of every workforce."""

from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from web.error_texts import error_text
from workforces.kinds.base import Terms


class DollarsField(forms.DecimalField):
    """An amount that people enter in dollars and the platform stores in cents; its limits are in dollars."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(decimal_places=2, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        """Return cents as dollars; typed text stays unchanged."""
        return (Decimal(value) / 100).quantize(Decimal("0.01")) if isinstance(value, int) else value

    def clean(self, value: Any) -> Any:
        """Return cents."""
        dollars = super().clean(value)
        return None if dollars is None else int(dollars * 100)


class MinutesField(forms.IntegerField):
    """A time that people enter in minutes and the platform stores in seconds; its limits are in minutes."""

    def prepare_value(self, value: Any) -> Any:
        """Return seconds as minutes; typed text stays unchanged."""
        return f"{value / 60:g}" if isinstance(value, int) else value

    def clean(self, value: Any) -> Any:
        """Return seconds."""
        minutes = super().clean(value)
        return None if minutes is None else 60 * minutes


class TermsForm(forms.Form):
    """The terms of a workforce: entered in dollars and minutes, stored in cents and seconds."""

    reward_cents = DollarsField(label=_("Reward per task ($)"), min_value=Decimal("0.01"), max_value=100, initial=5)
    items_per_ticket = forms.IntegerField(label=_("Items per task"), min_value=1, max_value=100, initial=1)
    cap_cents = DollarsField(
        label=_("Spending cap ($)"),
        min_value=Decimal("0.01"),
        max_value=10_000_000,
        required=False,
        help_text=_("No new work is posted once total spending reaches this amount."),
    )
    floor_cents_per_hour = DollarsField(label=_("Minimum hourly pay ($)"), min_value=0, max_value=1000, initial=900)
    people = forms.IntegerField(label=_("Expected number of annotators"), min_value=1, max_value=100_000, initial=20)
    seconds_each = forms.IntegerField(label=_("Expected seconds per item"), min_value=1, max_value=3600, initial=20)

    terms_class: type[Terms]

    def terms(self) -> dict[str, Any]:
        """Return the terms, without the fields that only the estimate needs."""
        return {name: value for name, value in self.cleaned_data.items() if name not in ("people", "seconds_each")}

    def clean(self) -> dict[str, Any] | None:
        """Return the fields, with the errors that the workforce itself finds."""
        data = super().clean()
        if data is not None and not self.errors:
            try:
                self.terms_class(**self.terms())
            except ValueError as error:
                raise forms.ValidationError(error_text(error)) from error
        return data
