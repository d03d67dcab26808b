"""Secrets that an installation generates for itself and for people."""

import os
import secrets
from pathlib import Path


def kept_secret(path: Path) -> str:
    """Return the secret in a file; it is created on first use and readable by its owner only."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return path.read_text()
    secret = secrets.token_urlsafe(50)
    with os.fdopen(descriptor, "w") as file:
        file.write(secret)
    return secret


def new_password() -> str:
    """Return a random password of 64 bits: hexadecimal, because commands treat a leading ``-`` as an option."""
    return secrets.token_hex(8)
