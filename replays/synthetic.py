"""Accounts for synthetic people. Their addresses don't exist, so they get no emails."""

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.utils import timezone

from accounts.models import Role, User
from accounts.services import membership_grant
from annotation.models import Campaign
from annotation.notifications.services import kinds_choose


def accounts(campaign: Campaign, name: str, count: int, password: str) -> list[str]:
    """Return the addresses of ``count`` annotators of a campaign; create missing ones. All have one password."""
    emails, hashed = [f"a{number}-{name}@crowd.example" for number in range(count)], make_password(password)
    for email in emails:
        with transaction.atomic():
            user = User.objects.filter(email=email).first()
            if user is None:
                user = User.objects.create_confirmed(email)
                # Hashed once for all of them: hashing takes a third of a second.
                User.objects.filter(pk=user.pk).update(password=hashed)
                kinds_choose(user=user, wanted=[])
            membership_grant(user=user, scope_id=campaign.pk, role=Role.ANNOTATOR, actor_id=None, now=timezone.now())
    return emails
