"""The forms by which people are invited."""

import re
from typing import Any, cast

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from accounts.models import Role
from web.mails import plain_address


class InvitationForm(forms.Form):
    """Creating an invitation link."""

    role = forms.ChoiceField(label=_("Role"))
    uses = forms.IntegerField(label=_("Maximum number of uses"), min_value=1, max_value=10_000, initial=1)
    days = forms.IntegerField(label=_("Valid for (days)"), min_value=1, max_value=365, initial=14)
    note = forms.CharField(label=_("Internal note"), required=False, max_length=200)

    def __init__(self, roles: list[Role], data: Any = None) -> None:
        super().__init__(data)
        field = self.fields["role"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(role.value, role.label) for role in roles]


class NamedInvitationsForm(forms.Form):
    """People to invite, each by a mail of their own."""

    MOST = 500

    role = forms.ChoiceField(label=_("Role"))
    addresses = forms.CharField(
        label=_("Email addresses"),
        widget=forms.Textarea(attrs={"rows": 4}),
        max_length=50_000,
        help_text=_(
            "Separate addresses with commas, spaces, or line breaks. You can paste a column from a spreadsheet."
        ),
    )
    days = forms.IntegerField(label=_("Valid for (days)"), min_value=1, max_value=365, initial=14)

    def __init__(self, roles: list[Role], data: Any = None) -> None:
        super().__init__(data, auto_id="id_named_%s")
        field = self.fields["role"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(role.value, role.label) for role in roles]

    def clean_addresses(self) -> list[str]:
        """Return the addresses, or an error that lists the invalid ones."""
        parts = [part for part in re.split(r"[\s,;]+", self.cleaned_data["addresses"]) if part]
        plain = {part: _plain_or_none(part) for part in parts}
        found, wrong = [one for one in plain.values() if one], [part for part, one in plain.items() if one is None]
        if wrong:
            shown = ", ".join(part[:60] for part in wrong[:5])
            raise forms.ValidationError(
                _("Correct or remove these invalid email addresses: %(which)s"), params={"which": shown}
            )
        if len(found) > self.MOST:
            raise forms.ValidationError(_("Enter at most %(most)s addresses at a time."), params={"most": self.MOST})
        return found


def _plain_or_none(text: str) -> str | None:
    try:
        return plain_address(text)
    except forms.ValidationError:
        return None


class JoiningForm(forms.Form):
    """Who may join a campaign: people with an address at a domain, or an account at a login provider."""

    domain = forms.RegexField(
        r"^@?[A-Za-z0-9.-]+\.[A-Za-z]{2,}$",
        label=_("Accept only email addresses from this domain"),
        required=False,
        max_length=200,
        help_text=_("For example, uni.example. Leave empty to accept any address."),
    )
    provider = forms.ChoiceField(label=_("Accept only people who log in with"), required=False)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if not settings.LOGIN_PROVIDERS:
            del self.fields["provider"]
            return
        named = [(one.id, one.name) for one in settings.LOGIN_PROVIDERS]
        cast("forms.ChoiceField", self.fields["provider"]).choices = [("", _("Any account")), *named]
