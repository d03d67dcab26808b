"""Configuration of the console app."""

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """Features that span the apps: home, overview, plans, archives, health, serving."""

    name = "console"

    def ready(self) -> None:
        """Register the checks."""
        from console import checks  # noqa: F401  registered by being imported
