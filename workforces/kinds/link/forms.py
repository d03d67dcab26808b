"""The forms for a panel's link with its terms, and for the panel's list."""

from typing import Any

from django import forms
from django.core.validators import FileExtensionValidator
from django.utils.translation import gettext_lazy as _

from workforces.forms import DollarsField, TermsForm
from workforces.kinds.base import Unsigned
from workforces.kinds.link.terms import LinkTerms


class LinkForm(TermsForm):
    """A form for a panel's link."""

    terms_class = LinkTerms
    items_per_ticket = forms.IntegerField(label=_("Items per visit"), min_value=1, max_value=100, initial=10)
    reward_cents = DollarsField(label=_("Reward per visit ($)"), min_value=0, max_value=1000, initial=200)
    person_parameter = forms.CharField(label=_("URL parameter for the participant ID"), initial="PROLIFIC_PID")
    visit_parameter = forms.CharField(label=_("URL parameter for the visit ID"), initial="SESSION_ID")
    code_completed = forms.CharField(label=_("Completion code: completed"))
    code_screened_out = forms.CharField(label=_("Completion code: screened out"))
    code_nothing_left = forms.CharField(label=_("Completion code: no items left"))
    return_url = forms.URLField(label=_("Return URL"), required=False, assume_scheme="https")
    unsigned = forms.ChoiceField(
        label=_("If a link isn't signed by the panel"),
        choices=[
            (Unsigned.WAIT, _("Count work once the panel confirms the visit")),
            (Unsigned.COUNT, _("Count work immediately (anyone with the link can submit work under made-up IDs)")),
            (Unsigned.REFUSE, _("Turn the visitor away")),
        ],
        initial=Unsigned.WAIT,
    )

    def __init__(self, data: Any = None, *, initial: dict[str, Any] | None = None, **kwargs: Any) -> None:
        proposed = dict(initial or {})
        if "reward_cents" in proposed:  # of one item
            proposed["reward_cents"] *= self.base_fields["items_per_ticket"].initial
        super().__init__(data, initial=proposed, **kwargs)


class PanelListForm(forms.Form):
    """A form for uploading a panel's list of its people and their visits."""

    file = forms.FileField(
        label=_("Confirmed visits (CSV)"),
        validators=[FileExtensionValidator(["csv", "tsv", "jsonl"])],
        help_text=_(
            "Upload the panel's export with a column for participant IDs and a column for visit IDs. Prolific exports work without changes."
        ),
    )
