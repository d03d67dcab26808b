"""Signed visits: Prolific signs the links of its participants with a token that is valid for two minutes.

(JSON Web Token, RS256; Prolific's keys are at ``/.well-known/study/jwks.json``.)
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import jwt
import requests
from django.conf import settings
from django.core.cache import cache

from workforces.kinds.base import ArrivalRefused

ISSUER = "https://www.prolific.com"
PERSON, STUDY, VISIT, TOKEN = "PROLIFIC_PID", "STUDY_ID", "SESSION_ID", "prolific_token"
KEYS_ASKED = "prolific-keys-asked"
KEEP_SECONDS, PAUSE_SECONDS = (
    86_400,
    60,
)  # Prolific renews its keys daily; a key that we lack is asked for once a minute
CLOCK_SECONDS = 30


def visit_check(query: Mapping[str, str]) -> None:
    """Check the token of a visit: who signed it, that it is about this address and this visit, and that it is fresh.

    Raises
    ------
    ArrivalRefused
    """
    token = query.get(TOKEN, "")
    try:
        key = _key(str(jwt.get_unverified_header(token).get("kid", "")))
        claims = jwt.decode(
            token,
            key,
            algorithms=["RS256"],
            issuer=ISSUER,
            leeway=CLOCK_SECONDS,
            options={"require": ["exp", "iss", "aud", "sub"], "verify_aud": False},
        )
    except jwt.ExpiredSignatureError as error:
        raise ArrivalRefused("arrival_expired") from error
    except jwt.PyJWTError as error:
        raise ArrivalRefused("arrival_signature") from error
    said = claims.get("prolific") or {}
    is_here = urlsplit(str(claims["aud"])).netloc == urlsplit(settings.PLATFORM_URL).netloc
    is_same = isinstance(said, dict) and all(said.get(name) == query.get(name) for name in (PERSON, STUDY, VISIT))
    # Anyone can make a study there that leads here; only those of our workspace are ours.
    is_ours = isinstance(said, dict) and said.get("workspace_id") == settings.PROLIFIC_WORKSPACE
    if not is_here or not is_same or not is_ours or claims["sub"] != query.get(VISIT):
        raise ArrivalRefused("arrival_signature")


def _key(kid: str) -> Any:
    """Return one of Prolific's keys.

    Raises
    ------
    ArrivalRefused
        Prolific doesn't tell us its keys at the moment.
    jwt.PyJWTError
        There is no such key.
    """
    keys = cache.get(_kept()) or {}
    # Without any key, each visitor asks: their links are valid for two minutes. For one that we lack, one does.
    if not keys or (kid not in keys and cache.add(KEYS_ASKED, 1, PAUSE_SECONDS)):
        keys = keys_renew()
    if not keys:
        raise ArrivalRefused("arrival_no_keys")
    if kid not in keys:
        raise jwt.InvalidKeyError("no such key")
    return jwt.algorithms.RSAAlgorithm.from_jwk(keys[kid])


def _kept() -> str:
    """Return the name of the keys in the cache."""
    return f"prolific-keys-{hashlib.sha256(settings.PROLIFIC_API_URL.encode()).hexdigest()[:16]}"


def keys_renew() -> dict[str, str]:
    """Ask Prolific for its keys, keep and return them; none if it doesn't respond."""
    try:
        answer = requests.get(
            f"{settings.PROLIFIC_API_URL}/.well-known/study/jwks.json", timeout=5, allow_redirects=False
        )
        answer.raise_for_status()
        found = {str(one["kid"]): json.dumps(one) for one in answer.json()["keys"] if one.get("kty") == "RSA"}
    except (requests.RequestException, ValueError, KeyError, TypeError):
        return cache.get(_kept()) or {}
    cache.set(_kept(), found, KEEP_SECONDS)
    return found
