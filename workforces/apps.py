"""Configuration of the workforces app."""

from django.apps import AppConfig


class WorkforcesConfig(AppConfig):
    """Where people are recruited and how they are paid."""

    name = "workforces"

    def ready(self) -> None:
        """Connect the signals of the annotation app."""
        from annotation import signals
        from jobs.nudges import receive

        receive(signals.participation_withdrawn, "workforces.services.visits.visitor_unlink")
