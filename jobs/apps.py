"""Configuration of the jobs app."""

from django.apps import AppConfig, apps


class JobsConfig(AppConfig):
    """Slow work: the job row, its lease, its progress and the tick."""

    name = "jobs"

    def ready(self) -> None:
        """Collect what the apps list."""
        from jobs.registry import load

        load(config.name for config in apps.get_app_configs())
