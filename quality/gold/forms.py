"""Forms for gold keys."""

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.items.forms import check_size
from quality.experts.services.cases import MOST_EXPERTS


class PilotKeysForm(forms.Form):
    """A form for creating gold keys from items that pilot annotators agreed on."""

    experts = forms.IntegerField(
        label=_("Number of experts who confirm each gold question"),
        min_value=0,
        max_value=MOST_EXPERTS,
        initial=1,
        help_text=_("Even when annotators agree, they're wrong in 5 to 14 of 100 cases, and more often on hard items."),
    )


class GoldForm(forms.Form):
    """A form for importing gold keys."""

    file = forms.FileField(
        validators=[check_size],
        label=_("Gold questions"),
        help_text=_("Use the same format as for items, plus a column named “accepted” with the correct answers."),
    )
    experts = forms.IntegerField(
        label=_("Number of experts who confirm each gold question"),
        min_value=0,
        max_value=MOST_EXPERTS,
        initial=1,
        help_text=_("Experts aren't told these are gold questions. Enter 0 to skip confirmation."),
    )
