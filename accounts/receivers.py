"""What follows from changes that the account pages of allauth make."""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.account.signals import email_removed
from django.dispatch import receiver
from django.utils import timezone

from accounts.identities import address_forget
from accounts.models import User


@receiver(email_removed)
def address_removed(user: User, email_address: EmailAddress, **_: Any) -> None:
    """Remember a confirmed address that an account gave up: with it, its owner could open a second one."""
    if email_address.verified:
        address_forget(address=email_address.email, user=user, now=timezone.now())
