"""Configuration of the baselines app."""

from django.apps import AppConfig


class BaselinesConfig(AppConfig):
    """Baselines of the papers, trained and untrained: commands only, and no models."""

    name = "baselines"
