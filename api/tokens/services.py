"""Creating, using and revoking tokens."""

import secrets
from collections.abc import Collection
from datetime import datetime, timedelta

from accounts.audit import record
from accounts.models import User
from annotation.models import Campaign
from api.models import ApiToken, TokenScope
from api.tokens.selectors import PREFIX, secret_hash
from database.transactions import durable
from web.errors import KeyedError

MOST_DAYS = 366
MOST_TOKENS = 100
NOTED_SECONDS = 60


class TokenError(KeyedError):
    """A token can't be created as requested."""


@durable
def token_create(
    *, user: User, name: str, scopes: Collection[str], campaign: Campaign | None, days: int, now: datetime
) -> tuple[ApiToken, str]:
    """Create a token, and return it with its secret, which is stored nowhere.

    Raises
    ------
    TokenError
        A scope is unknown, there is none, the time is too long, or the person has too many tokens.
    """
    if not scopes or set(scopes) - set(TokenScope.values):
        raise TokenError("token_scopes", known=", ".join(TokenScope.values))
    if not 1 <= days <= MOST_DAYS:
        raise TokenError("token_days", most=MOST_DAYS)
    if ApiToken.objects.filter(user=user, revoked_at=None).count() >= MOST_TOKENS:
        raise TokenError("tokens_many", most=MOST_TOKENS)
    secret = PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user=user,
        name=name.strip()[:100],
        sha256=secret_hash(secret),
        ending=secret[-4:],
        scopes=sorted(scopes, key=TokenScope.values.index),
        campaign=campaign,
        created_at=now,
        expires_at=now + timedelta(days=days),
    )
    record(
        action="token_create",
        subject=token,
        now=now,
        actor_id=user.surrogate_id,
        scope_id=campaign.pk if campaign else None,
        scopes=token.scopes,
        expires_at=token.expires_at.isoformat(),
    )
    return token, secret


@durable
def token_revoke(*, token: ApiToken, now: datetime) -> bool:
    """Revoke a token; return whether it was still valid."""
    revoked = ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now)
    if revoked:
        record(
            action="token_revoke",
            subject=token,
            now=now,
            actor_id=token.user.surrogate_id,
            scope_id=token.campaign_id,
        )
    return bool(revoked)


def token_used(*, token: ApiToken, now: datetime) -> None:
    """Note when a token was last used, at most once a minute: most requests write nothing."""
    if token.used_at is None or now - token.used_at > timedelta(seconds=NOTED_SECONDS):
        ApiToken.objects.filter(pk=token.pk).update(used_at=now)
