"""The signatures of Standard Webhooks 1.0.0 (https://www.standardwebhooks.com)."""

import base64
import hashlib
import hmac


def key_of(secret: str) -> bytes:
    """Return the key: base64 after ``whsec_``, as the specification writes it, or else the text itself."""
    return base64.b64decode(secret.removeprefix("whsec_")) if secret.startswith("whsec_") else secret.encode()


def signature_of(key: bytes, *, message_id: str, timestamp: int, body: bytes) -> str:
    """Return the signature of a message: HMAC-SHA256 over its id, its time in seconds and its raw body, in base64."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
