"""Configuration of the sources app."""

from django.apps import AppConfig


class SourcesConfig(AppConfig):
    """From raw material to items: filters, near duplicates, pools."""

    name = "sources"
