"""Receivers of the signals that allauth's account pages send."""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.account.signals import email_removed
from django.dispatch import receiver
from django.utils import timezone

from accounts.identities import address_forget
from accounts.models import User


@receiver(email_removed)
def address_removed(user: User, email_address: EmailAddress, **_: Any) -> None:
    """Store a mark of a confirmed address that an account gave up, so that its owner can't open a second account."""
    if email_address.verified:
        address_forget(address=email_address.email, user=user, now=timezone.now())
