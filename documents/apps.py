"""Configuration of the documents app."""

from django.apps import AppConfig


class DocumentsConfig(AppConfig):
    """Pages: canonical bytes, tokens, candidates, and HTML for reading."""

    name = "documents"
