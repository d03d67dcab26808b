"""Configuration of the sources app."""

from django.apps import AppConfig


class SourcesConfig(AppConfig):
    """The app that turns raw material into items: filters, near duplicates, pools."""

    name = "sources"
