"""Configuration of the quality app."""

from django.apps import AppConfig


class QualityConfig(AppConfig):
    """Is it good: gold checks, verdicts, rounds, experts, inspections."""

    name = "quality"

    def ready(self) -> None:
        """Receive the signals of the annotation app."""
        from annotation.signals import (
            assignment_skipped,
            participation_advanced,
            participation_joined,
            participation_withdrawn,
            standing_joined,
        )
        from quality.services.behaviour import snapshots_forget
        from quality.services.flags import question_flag_offered
        from quality.services.gold import gold_checks_unlink
        from quality.services.gold_plans import gold_plan
        from quality.services.joining import checks_join, reviews_join
        from quality.services.watching import firings_forget

        participation_advanced.connect(gold_plan, dispatch_uid="quality.gold_plan")
        assignment_skipped.connect(question_flag_offered, dispatch_uid="quality.question_flag_offered")
        participation_withdrawn.connect(gold_checks_unlink, dispatch_uid="quality.gold_checks_unlink")
        participation_withdrawn.connect(firings_forget, dispatch_uid="quality.firings_forget")
        participation_withdrawn.connect(snapshots_forget, dispatch_uid="quality.snapshots_forget")
        participation_joined.connect(checks_join, dispatch_uid="quality.checks_join")
        standing_joined.connect(reviews_join, dispatch_uid="quality.reviews_join")
