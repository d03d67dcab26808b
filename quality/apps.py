"""Configuration of the quality app."""

from django.apps import AppConfig


class QualityConfig(AppConfig):
    """Quality control: gold checks, verdicts, rounds, experts, inspections."""

    name = "quality"

    def ready(self) -> None:
        """Connect receivers to the signals of the annotation app."""
        from annotation import signals
        from jobs.nudges import receive

        receive(signals.participation_advanced, "quality.gold.services.exposures.exposures_schedule")
        receive(signals.assignment_skipped, "quality.flags.services.question_flag_offered")
        receive(signals.participation_withdrawn, "quality.gold.services.checks.gold_checks_unlink")
        receive(signals.participation_withdrawn, "quality.people.services.rules.firings_forget")
        receive(signals.participation_withdrawn, "quality.people.services.behaviour.snapshots_forget")
        receive(signals.participation_joined, "quality.people.services.joining.checks_join")
        receive(signals.standing_joined, "quality.people.services.joining.reviews_join")
