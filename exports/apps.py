"""Configuration of the exports app."""

from django.apps import AppConfig


class ExportsConfig(AppConfig):
    """Releases: datasets on disk, immutable and hashed."""

    name = "exports"
