"""What makes a release impossible."""

from web.errors import KeyedError


class ReleaseError(KeyedError):
    """A release cannot be made as asked."""
