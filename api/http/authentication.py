"""The token of a request."""

from datetime import datetime

from django.http import HttpRequest

from accounts.two_factor import two_factor_is_missing
from api.http.problems import Refused
from api.models import ApiToken
from api.tokens.selectors import token_find

_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="Quorate"'}


def token_of(request: HttpRequest, now: datetime) -> ApiToken:
    """Return the token that a request sent.

    Raises
    ------
    Refused
        There is none, or it is unknown, expired or revoked, or its owner's account is inactive (401). Its owner's role
        needs a second factor that is missing (403).
    """
    kind, _, secret = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer" or not secret.strip():
        raise Refused(401, "token_missing", "Send a token: “Authorization: Bearer …”.", headers=_CHALLENGE)
    token = token_find(secret.strip())
    if token is None:
        raise Refused(401, "token_unknown", "This token is unknown or was revoked.", headers=_CHALLENGE)
    if token.expires_at <= now:
        said = f"This token expired at {token.expires_at:%Y-%m-%d %H:%M} UTC."
        raise Refused(401, "token_expired", said, headers=_CHALLENGE)
    # People who only log in by a provider use its factors.
    if token.user.has_usable_password() and two_factor_is_missing(token.user):
        raise Refused(403, "two_factor_missing", "Your role needs a second factor. Set it up under Account.")
    return token
