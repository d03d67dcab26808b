"""Forms of audits and targets."""

from django import forms
from django.utils.translation import gettext_lazy as _

from measures.audits import LEAST
from quality.labels.services.audits import LEAST_TWICE, MOST


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
