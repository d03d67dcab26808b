"""Repeated requests.

Repeating a request with the same UniqueRequestToken has no effect for 24 hours. The response is an error that names
the first result, not a replay of the first response.
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
    """Save the signature of a request that moves money, for as long as the signature is valid.

    Raises
    ------
    SignatureError
        The signature was used before, except just now from the same network address.
    """
    UsedSignature.objects.filter(used_at__lt=now - 2 * SKEW).delete()
    first = {"used_at": now, "address": address}
    used, created = UsedSignature.objects.get_or_create(signature=signature, defaults=first)
    if not created and (used.address != address or now - used.used_at > SAME_MOMENT):
        raise SignatureError("InvalidSignatureException", "This request was received before; sign it again.")


def token_use(*, requester: Requester, operation: str, token: str | None, result: str, now: datetime) -> None:
    """Claim a token for this transaction. A simultaneous second request waits here for the first.

    Raises
    ------
    RequestError
        The token was used before; the message names the result.
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
