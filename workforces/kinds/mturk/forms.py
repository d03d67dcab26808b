"""A form for the content and the pay of postings."""

from django import forms
from django.utils.translation import gettext_lazy as _

from workforces.forms import DollarsField, MinutesField, TermsForm
from workforces.kinds.mturk.terms import MTurkTerms


class MTurkForm(TermsForm):
    """A form for the content and the pay of postings."""

    terms_class = MTurkTerms
    field_order = (
        "title",
        "description",
        "reward_cents",
        "training_bonus_cents",
        "items_per_ticket",
        "qualification",
        "cap_cents",
        "floor_cents_per_hour",
        "approve_after_seconds",
        "undo_seconds",
        "has_fees",
        "people",
        "seconds_each",
    )

    title = forms.CharField(label=_("Title"), max_length=128, initial="Judge how well an answer fits a question")
    description = forms.CharField(
        label=_("Description"), max_length=2000, initial="Read a question and an answer, and choose one of four labels."
    )
    training_bonus_cents = DollarsField(
        label=_("Bonus for the training round ($)"), min_value=0, max_value=100, initial=25
    )
    qualification = forms.ChoiceField(
        label=_("Eligible workers"),
        choices=[
            ("own", _("Any worker on the marketplace")),
            ("paper", _("Same as the ANTIQUE paper: over 98 percent approval rate and at least 5,000 approved tasks")),
        ],
    )
    approve_after_seconds = MinutesField(label=_("Approve automatically after (minutes)"), min_value=0, initial=86_400)
    undo_seconds = MinutesField(label=_("Decisions can be undone for (minutes)"), min_value=0, initial=600)
    has_fees = forms.BooleanField(label=_("The marketplace charges a 20 percent fee"), required=False, initial=True)
