"""The error raised if a release can't be created."""

from web.errors import KeyedError


class ReleaseError(KeyedError):
    """A release cannot be created as requested."""
