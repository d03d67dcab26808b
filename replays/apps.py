"""Configuration of the replays app."""

from django.apps import AppConfig


class ReplaysConfig(AppConfig):
    """Campaigns by synthetic crowds: the papers' replays and the demo."""

    name = "replays"
