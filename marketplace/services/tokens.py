"""UniqueRequestToken: a request with the same token has no second effect for 24 hours.

The service answers a repeated token with an error that names the first result, not with a replay.
"""

from datetime import datetime, timedelta

from django.db import IntegrityError, transaction

from marketplace.models import Requester, UniqueRequest, UsedSignature
from marketplace.protocol.errors import RequestError, SignatureError
from marketplace.protocol.lifecycle import TOKEN_WORKS_FOR
from marketplace.protocol.signature import SKEW

_CREATES = "CreateHIT"


# A script that posts the same HIT twice within a second signs both alike, as the signature knows seconds only.
SAME_MOMENT = timedelta(seconds=2)


def signature_use(*, signature: str, signed_at: datetime, now: datetime) -> None:
    """Remember the signature of a request that moves money, for as long as it could be sent again.

    Raises
    ------
    SignatureError
        It was used before, and not just now.
    """
    UsedSignature.objects.filter(used_at__lt=now - 2 * SKEW).delete()
    try:
        with transaction.atomic():
            UsedSignature.objects.create(signature=signature, used_at=now)
    except IntegrityError:
        if abs(now - signed_at) <= SAME_MOMENT:
            return
        raise SignatureError("InvalidSignatureException", "This request was received before; sign it again.") from None


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
