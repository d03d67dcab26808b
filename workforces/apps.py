"""Configuration of the workforces app."""

from django.apps import AppConfig


class WorkforcesConfig(AppConfig):
    """Where people come from and how they are paid."""

    name = "workforces"

    def ready(self) -> None:
        """Receive the signals of the annotation app."""
        from annotation.signals import participation_withdrawn
        from workforces.services.visits import visitor_unlink

        participation_withdrawn.connect(visitor_unlink, dispatch_uid="workforces.visitor_unlink")
