"""Verify AWS Signature Version 4.

botocore's own signer recomputes the signature over the headers that the caller names; the comparison
takes constant time. A signature is valid within the clock skew, in both directions.
"""

import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from marketplace.protocol.errors import SignatureError
from marketplace.protocol.service import signing_name

SKEW = timedelta(minutes=5)
_MUST_BE_SIGNED = {"host", "x-amz-date", "x-amz-target"}
_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256\s+Credential=(?P<key>[^/,\s]+)/(?P<date>\d{8})/(?P<region>[^/,\s]+)/(?P<service>[^/,\s]+)"
    r"/aws4_request,\s*SignedHeaders=(?P<headers>[a-z0-9;-]+),\s*Signature=(?P<signature>[0-9a-f]{64})\s*"
)


@dataclass(frozen=True)
class Request:
    """The parts of an HTTP request that a signature covers; header names are in lower case."""

    url: str
    headers: Mapping[str, str]
    body: bytes


def verify(request: Request, *, secret_of: Callable[[str], str | None], now: datetime) -> str:
    """Return the access key id that signed this request.

    Parameters
    ----------
    request
        The received request.
    secret_of
        Returns the secret of an access key id, or None if there is no such key.
    now
        The real time: a clock that tests move must not extend a signature's validity.

    Raises
    ------
    SignatureError
        MissingAuthenticationTokenException, IncompleteSignatureException, UnrecognizedClientException,
        or InvalidSignatureException, as in AWS services.
    """
    found = _parse(request.headers.get("authorization"))
    headers = found["headers"].split(";")
    if found["service"] != signing_name():
        raise SignatureError("InvalidSignatureException", f"The credential must be scoped to {signing_name()}.")
    if not set(headers) >= _MUST_BE_SIGNED or any(name not in request.headers for name in headers):
        raise SignatureError("InvalidSignatureException", "Host, X-Amz-Date and X-Amz-Target must be sent and signed.")
    if request.headers.get("x-amz-content-sha256", digest := sha256(request.body).hexdigest()) != digest:
        raise SignatureError("InvalidSignatureException", "X-Amz-Content-SHA256 is not the digest of the body.")
    _check_time(request.headers["x-amz-date"], found["date"], now)
    secret = secret_of(found["key"])
    if secret is None:
        raise SignatureError("UnrecognizedClientException", "The security token included in the request is invalid.")
    if not hmac.compare_digest(_signature(request, headers, found, secret), found["signature"]):
        raise SignatureError(
            "InvalidSignatureException",
            "The request signature we calculated does not match the signature you provided. "
            "Check your access key, its secret and your signing method.",
        )
    return found["key"]


def signature_of(authorization: str) -> str:
    """Return the signature in the Authorization header of a verified request."""
    return str(_parse(authorization)["signature"])


def _parse(authorization: str | None) -> dict[str, str]:
    if not authorization:
        raise SignatureError("MissingAuthenticationTokenException", "Missing Authentication Token")
    match = _AUTHORIZATION.fullmatch(authorization)
    if match is None:
        raise SignatureError("IncompleteSignatureException", "The Authorization header is not AWS4-HMAC-SHA256.")
    return match.groupdict()


def _check_time(stamp: str, scope_date: str, now: datetime) -> None:
    try:
        signed_at = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise SignatureError("IncompleteSignatureException", "X-Amz-Date must read like 20261121T120000Z.") from None
    if scope_date != stamp[:8]:
        raise SignatureError("InvalidSignatureException", "The credential's date is not the date of X-Amz-Date.")
    if abs(now - signed_at) > SKEW:
        word = "expired" if now > signed_at else "not yet current"
        raise SignatureError(
            "InvalidSignatureException", f"Signature {word}: {stamp} is too far from {now:%Y%m%dT%H%M%SZ}"
        )


def _signature(request: Request, headers: list[str], found: Mapping[str, str], secret: str) -> str:
    signer = SigV4Auth(Credentials(found["key"], secret), found["service"], found["region"])
    signed = {name: request.headers[name] for name in headers}
    again = AWSRequest(method="POST", url=request.url, data=request.body, headers=signed)
    again.context["timestamp"] = request.headers["x-amz-date"]
    return str(signer.signature(signer.string_to_sign(again, signer.canonical_request(again)), again))
