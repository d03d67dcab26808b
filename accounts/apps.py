"""Configuration of the accounts app."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Users, their erasable identity, consent, memberships and the audit trail."""

    name = "accounts"

    def ready(self) -> None:
        """Register the system checks and the receivers of allauth's signals."""
        from allauth.account.signals import user_logged_in
        from allauth.mfa.signals import authenticator_added
        from django.conf import settings

        from accounts import checks, receivers  # noqa: F401

        if settings.TWO_FACTOR_ROLES:
            from accounts.two_factor import two_factor_added, two_factor_check

            user_logged_in.connect(two_factor_check)
            authenticator_added.connect(two_factor_added)
