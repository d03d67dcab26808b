"""Sign-up where an address counts only once its owner has read a mail there."""

from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.forms import SignupForm
from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction


class OwnersSignupForm(SignupForm):  # type: ignore[misc]  # untyped library
    """A sign-up that nobody can take from the owner of an address by naming it first."""

    def clean_email(self) -> Any:
        """Return the address; whoever named it before without confirming it loses it."""
        address_release(self.cleaned_data["email"])
        return super().clean_email()


@transaction.atomic
def address_release(address: str) -> None:
    """Take an address from those who only named it: an account's further addresses, and a sign-up that was never confirmed.

    Without this, who signs up first with somebody's address would keep its owner out, or would have the owner confirm it
    for them. Where nothing is confirmed, an account keeps the address that it logs in by.
    """
    named = EmailAddress.objects.filter(email__iexact=address, verified=False)
    named.filter(primary=False).delete()
    if settings.ACCOUNT_EMAIL_VERIFICATION != "mandatory":
        return
    users = get_user_model().objects.filter(email__iexact=address, last_login=None, emailaddress__in=named)
    for user in users.exclude(emailaddress__verified=True):
        get_adapter().discard_unconfirmed(user)
