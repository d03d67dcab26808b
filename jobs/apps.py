"""Configuration of the jobs app."""

from django.apps import AppConfig


class JobsConfig(AppConfig):
    """Background jobs: rows, leases, progress, and the periodic tick."""

    name = "jobs"
