"""A form for a study on Prolific."""

from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from workforces.forms import DollarsField, MinutesField, TermsForm
from workforces.kinds.prolific.terms import ProlificTerms


class ProlificForm(TermsForm):
    """A form for the content and the pay of a study."""

    terms_class = ProlificTerms
    field_order = (
        "title",
        "description",
        "reward_cents",
        "items_per_ticket",
        "estimated_minutes",
        "assignment_seconds",
        "visits_each",
        "training_bonus_cents",
        "cap_cents",
        "floor_cents_per_hour",
        "fee_percent",
        "approve_after_seconds",
        "undo_seconds",
        "is_secure",
        "has_phones",
        "people",
        "seconds_each",
    )

    title = forms.CharField(label=_("Title"), max_length=120, initial=ProlificTerms().title)
    description = forms.CharField(
        label=_("Description"), max_length=2000, widget=forms.Textarea({"rows": 3}), initial=ProlificTerms().description
    )
    items_per_ticket = forms.IntegerField(label=_("Items per visit"), min_value=1, max_value=100, initial=10)
    reward_cents = DollarsField(
        label=_("Reward per visit ($)"), min_value=Decimal("0.10"), max_value=1000, initial=ProlificTerms().reward_cents
    )
    estimated_minutes = forms.IntegerField(
        label=_("Estimated minutes per visit"),
        min_value=1,
        max_value=600,
        initial=ProlificTerms().estimated_minutes,
        help_text=_("Prolific shows it to participants and requires at least $8 per hour of it."),
    )
    assignment_seconds = MinutesField(
        label=_("Maximum minutes per visit"), min_value=1, max_value=1439, initial=ProlificTerms().assignment_seconds
    )
    visits_each = forms.IntegerField(
        label=_("Visits per participant"),
        min_value=0,
        max_value=1000,
        initial=1,
        help_text=_("0: as many as there are items for."),
    )
    training_bonus_cents = DollarsField(
        label=_("Bonus for the training round ($)"), min_value=0, max_value=100, initial=0
    )
    fee_percent = forms.FloatField(
        label=_("Prolific's fee (percent)"),
        min_value=0,
        max_value=100,
        initial=33.3,
        help_text=_("33.3 for universities and nonprofits, 42.8 for companies."),
    )
    approve_after_seconds = MinutesField(
        label=_("Approve automatically after (minutes)"), min_value=0, initial=ProlificTerms().approve_after_seconds
    )
    undo_seconds = MinutesField(label=_("Decisions can be undone for (minutes)"), min_value=0, initial=600)
    is_secure = forms.BooleanField(
        label=_("Prolific signs the links of this workspace"),
        required=False,
        help_text=_("Select this only if Prolific has enabled secure URLs for your workspace."),
    )
    has_phones = forms.BooleanField(label=_("Allow phones"), required=False)

    def __init__(self, data: Any = None, *, initial: dict[str, Any] | None = None, **kwargs: Any) -> None:
        proposed = dict(initial or {})
        proposed.pop("reward_cents", None)  # of one item
        super().__init__(data, initial=proposed, **kwargs)
