"""Configuration of the quality app."""

from django.apps import AppConfig


class QualityConfig(AppConfig):
    """Is it good: gold checks, verdicts, rounds, experts, inspections."""

    name = "quality"

    def ready(self) -> None:
        """Receive the signals of the annotation app."""
        from annotation import signals
        from jobs.nudges import receive

        receive(signals.participation_advanced, "quality.services.gold_plans.gold_plan")
        receive(signals.assignment_skipped, "quality.services.flags.question_flag_offered")
        receive(signals.participation_withdrawn, "quality.services.gold.gold_checks_unlink")
        receive(signals.participation_withdrawn, "quality.services.watching.firings_forget")
        receive(signals.participation_withdrawn, "quality.services.behaviour.snapshots_forget")
        receive(signals.participation_joined, "quality.services.joining.checks_join")
        receive(signals.standing_joined, "quality.services.joining.reviews_join")
