"""The form for creating a webhook."""

from django import forms
from django.utils.translation import gettext_lazy as _

from api.models import WebhookForm
from jobs.events import KINDS


class NewWebhookForm(forms.Form):
    """A webhook to create."""

    form = forms.ChoiceField(label=_("Format"), choices=WebhookForm.choices)
    url = forms.CharField(
        label=_("Address"),
        max_length=2000,
        help_text=_(
            "An https address that is reachable from the internet. For a chat channel, paste the address of its incoming webhook. For email, enter an email address."
        ),
    )
    kinds = forms.MultipleChoiceField(
        label=_("Events"),
        choices=[(kind, _(name)) for kind, name in KINDS.items()],
        initial=[kind for kind in KINDS if kind != "item.labeled"],
        widget=forms.CheckboxSelectMultiple,
    )
