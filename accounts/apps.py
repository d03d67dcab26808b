"""Configuration of the accounts app."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Users, their erasable identity, consent, memberships and the audit trail."""

    name = "accounts"

    def ready(self) -> None:
        """Register the system checks and the receivers of allauth's signals."""
        from accounts import checks, receivers  # noqa: F401
