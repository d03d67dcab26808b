"""Forms for audits and targets."""

from django import forms
from django.utils.translation import gettext_lazy as _

from measures.audits import LEAST
from quality.labels.services.audits import LEAST_TWICE, MOST


class AuditForm(forms.Form):
    """A form that starts an audit of the labels."""

    count = forms.IntegerField(
        label=_("Items"),
        min_value=LEAST,
        max_value=MOST,
        initial=400,
        help_text=_("Items are drawn at random. With 400 items, the margin of error is about ±2 percentage points."),
    )
    twice = forms.FloatField(
        label=_("Share judged by two experts"),
        min_value=LEAST_TWICE,
        max_value=1,
        initial=LEAST_TWICE,
        help_text=_("Used to measure agreement between experts. The minimum is 0.2."),
    )


class BeforeForm(forms.Form):
    """A form that describes a planned campaign, to estimate the cost of a target."""

    items = forms.IntegerField(label=_("Items"), min_value=10, max_value=5_000, initial=500)
    accuracy = forms.FloatField(
        label=_("Annotator accuracy"),
        min_value=0.3,
        max_value=0.99,
        initial=0.8,
        help_text=_("Use the accuracy measured in a pilot or a similar campaign."),
    )
    fewest = forms.IntegerField(label=_("First votes per item"), min_value=1, max_value=20, initial=3)
    vote_cents = forms.FloatField(
        label=_("Cost per answer, including fees (cents)"), min_value=0.01, max_value=10_000, initial=6
    )
