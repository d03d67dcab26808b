"""Configuration of the annotation app."""

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    """Campaigns, items and people's work on them."""

    name = "annotation"

    def ready(self) -> None:
        """Receive the signals of the accounts app."""
        from allauth.account.signals import user_logged_in
        from django.conf import settings

        from accounts.signals import role_changed
        from jobs.nudges import receive

        receive(role_changed, "annotation.notifications.services.role_change_tell")
        if settings.LOGIN_PROVIDERS:
            from allauth.socialaccount.signals import social_account_removed

            receive(user_logged_in, "annotation.people.services.provider_roles.provided_login")
            receive(social_account_removed, "annotation.people.services.provider_roles.provided_account_removed")
