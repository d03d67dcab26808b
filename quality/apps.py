"""The quality app."""

from django.apps import AppConfig


class QualityConfig(AppConfig):
    """Is it good: gold checks, verdicts, rounds, experts, inspections."""

    name = "quality"

    def ready(self) -> None:
        """Register jobs, sweeps and what happens when somebody begins."""
        from quality import tasks  # noqa: F401  models must be loaded first
