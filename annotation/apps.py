"""Configuration of the annotation app."""

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    """Campaigns, items and people's work on them."""

    name = "annotation"

    def ready(self) -> None:
        """Receive the signals of the accounts app."""
        from accounts.signals import role_changed
        from jobs.nudges import receive

        receive(role_changed, "annotation.notifications.services.role_change_tell")
