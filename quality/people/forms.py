"""Forms for rules on people's behavior."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from quality.models import WatchRule


class RuleForm(forms.ModelForm):  # type: ignore[type-arg]  # Django's is no generic at run time
    """A form for a rule on people's behavior."""

    class Meta:
        model = WatchRule
        fields = ("collector", "is_above", "limit", "window", "least", "act")
        labels = {
            "collector": _("Measure"),
            "is_above": _("Condition"),
            "limit": _("Limit"),
            "window": _("Window size"),
            "least": _("Minimum observations"),
            "act": _("Action"),
        }
        help_texts = {"limit": _("Enter a share from 0 to 1 or a number of seconds, depending on the measure.")}

    limit = forms.FloatField(min_value=0, max_value=86_400, initial=0.4, label=_("Limit"))
    window = forms.IntegerField(min_value=1, max_value=1_000, initial=20, label=_("Window size"))
    least = forms.IntegerField(min_value=1, max_value=1_000, initial=10, label=_("Minimum observations"))

    def clean(self) -> dict[str, Any]:
        """Return the fields; refuse a minimum that is larger than the window."""
        data = super().clean() or {}
        if data.get("least", 0) > data.get("window", 1_000):
            self.add_error("least", _("Enter a minimum no larger than the window size."))
        return data
