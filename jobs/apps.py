"""Configuration of the jobs app."""

from django.apps import AppConfig


class JobsConfig(AppConfig):
    """Slow work: the job row, its lease, its progress and the tick."""

    name = "jobs"
