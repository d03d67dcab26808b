"""The name of the authentication backend in every session since 0.2.0: under another name, an upgrade logs everybody out."""

from web import sessions


class UserBackend(sessions.UserBackend):
    """The backend under its lasting name."""
