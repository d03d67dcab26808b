"""Configuration of the API app."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    """The REST interface."""

    name = "api"
