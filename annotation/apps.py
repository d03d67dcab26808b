"""Configuration of the annotation app."""

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    """Campaigns, items and people's work on them."""

    name = "annotation"
