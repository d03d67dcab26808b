"""Configuration of the console app."""

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """What spans the apps: home, health, demo, serve."""

    name = "console"
