"""Configuration of the annotation app."""

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    """Campaigns, documents, items and people's work on them."""

    name = "annotation"

    def ready(self) -> None:
        """Register job handlers and sweeps."""
        from annotation import tasks  # noqa: F401
