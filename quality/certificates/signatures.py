"""Signatures of an installation (Ed25519, RFC 8032), by a key that is derived from its secret key."""

import base64

from django.utils.crypto import salted_hmac


class Signer:
    """Signs with the installation's key: the same on all its machines, and after a restored backup."""

    def __init__(self) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415  seldom wanted

        secret = salted_hmac("quality.certificates", "signature", algorithm="sha256").digest()
        self._key = Ed25519PrivateKey.from_private_bytes(secret)

    @property
    def public(self) -> str:
        """The public key, as text (base64)."""
        return base64.b64encode(self._key.public_key().public_bytes_raw()).decode()

    def signature(self, data: bytes) -> str:
        """Return the signature of some bytes, as text (base64)."""
        return base64.b64encode(self._key.sign(data)).decode()


def is_signed(data: bytes, signature: str, key: str) -> bool:
    """Return whether a signature of some bytes is by the private key of this public key."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415  seldom wanted
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

    try:
        public = Ed25519PublicKey.from_public_bytes(base64.b64decode(key, validate=True))
        public.verify(base64.b64decode(signature, validate=True), data)
    except (InvalidSignature, ValueError):
        return False
    return True
