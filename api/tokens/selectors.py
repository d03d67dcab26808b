"""Finding tokens."""

import hashlib
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from accounts.models import Membership, Role, User
from annotation.models import Campaign
from api.models import ApiToken

PREFIX = "quorate_"  # so that scanners of repositories recognize a secret


def secret_hash(secret: str) -> str:
    """Return the hash under which a secret is stored. It is drawn at random, so it needs no salt."""
    return hashlib.sha256(secret.encode()).hexdigest()


def token_find(secret: str) -> ApiToken | None:
    """Return the token with a secret, unless it was revoked or its owner's account is inactive."""
    rows = ApiToken.objects.select_related("user")
    return rows.filter(sha256=secret_hash(secret), revoked_at=None, user__is_active=True).first()


def token_in_force(token_id: UUID, now: datetime) -> ApiToken | None:
    """Return a token that isn't revoked or expired, and whose owner's account is active."""
    rows = ApiToken.objects.select_related("user").filter(revoked_at=None, expires_at__gt=now, user__is_active=True)
    return rows.filter(pk=token_id).first()


def tokens_of(user: User) -> "QuerySet[ApiToken]":
    """Return a person's tokens that aren't revoked, newest first."""
    return user.api_tokens.filter(revoked_at=None).select_related("campaign").order_by("-created_at", "pk")


def campaigns_for(user: User) -> "QuerySet[Campaign]":
    """Return the campaigns that a person's tokens can work in: those in which they don't only annotate."""
    rows = Campaign.objects.order_by("title", "slug")
    if user.is_admin:
        return rows
    roles = Membership.objects.filter(user=user).exclude(role=Role.ANNOTATOR)
    return rows.filter(pk__in=roles.values("scope"))
