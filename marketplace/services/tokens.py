"""Requests that come twice.

A request with the same UniqueRequestToken has no second effect for 24 hours. The service answers a repeated token with an error that names the first result, not with a replay.
"""

from datetime import datetime, timedelta

from django.db import IntegrityError, transaction

from marketplace.models import Requester, UniqueRequest, UsedSignature
from marketplace.protocol.errors import RequestError, SignatureError
from marketplace.protocol.lifecycle import TOKEN_WORKS_FOR
from marketplace.protocol.signature import SKEW

_CREATES = "CreateHIT"


# A script may post two HITs alike within a second: a signature knows seconds only, so both are signed alike. They come
# from one address, at once, or as late as a busy server gets to them.
SAME_MOMENT = timedelta(seconds=10)


def signature_use(*, signature: str, address: str, now: datetime) -> None:
    """Remember the signature of a request that moves money, for as long as it could be sent again.

    Raises
    ------
    SignatureError
        It was used before, and not just now from the same network address.
    """
    UsedSignature.objects.filter(used_at__lt=now - 2 * SKEW).delete()
    first = {"used_at": now, "address": address}
    used, created = UsedSignature.objects.get_or_create(signature=signature, defaults=first)
    if not created and (used.address != address or now - used.used_at > SAME_MOMENT):
        raise SignatureError("InvalidSignatureException", "This request was received before; sign it again.")


def token_use(*, requester: Requester, operation: str, token: str | None, result: str, now: datetime) -> None:
    """Claim a token for this transaction. The second of two that run at once waits here for the first.

    Raises
    ------
    RequestError
        The token had its effect already; the message holds its result.
    """
    if token is None:
        return
    same = UniqueRequest.objects.filter(requester=requester, operation=operation, token=token)
    same.filter(created_at__lte=now - TOKEN_WORKS_FOR).delete()
    try:
        with transaction.atomic():
            UniqueRequest.objects.create(
                requester=requester, operation=operation, token=token, result=result, created_at=now
            )
    except IntegrityError:
        first = same.get().result
        if operation == _CREATES:
            raise RequestError(
                "HitAlreadyExists", f"The HIT with ID {first} already exists: it was created with this token."
            ) from None
        raise RequestError(
            "RequestAlreadyExists", f"This token was used before, by the request with ID {first}."
        ) from None
