"""Ids in the protocol's format; callers pass the source of randomness."""

import secrets
from collections.abc import Callable

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

Choice = Callable[[str], str]


def entity_id(choice: Choice = secrets.choice) -> str:
    """Return a new EntityId: 30 characters, beginning with 3, as ids of HITs and assignments do."""
    return "3" + "".join(choice(_ALPHABET) for _ in range(29))


def customer_id(choice: Choice = secrets.choice) -> str:
    """Return a new CustomerId of a worker or a requester: A and 13 characters."""
    return "A" + "".join(choice(_ALPHABET) for _ in range(13))


def access_key_id(choice: Choice = secrets.choice) -> str:
    """Return a new access key id: 20 characters, with a prefix that AWS doesn't use."""
    return "QKIA" + "".join(choice(_ALPHABET) for _ in range(16))
