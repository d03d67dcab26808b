"""The marketplace as a Django application."""

from django.apps import AppConfig


class MarketplaceConfig(AppConfig):
    """A service that speaks the MTurk Requester protocol, and its worker site."""

    name = "marketplace"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the checks."""
        from marketplace import checks  # noqa: F401
