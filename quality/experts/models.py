"""The models for experts' cases and opinions, and for manual inspections."""

from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.tasktypes.labels import LABEL


class InspectionVerdict(models.TextChoices):
    """The result of a manual check."""

    GOOD = "good", _("Correct")
    DEBATABLE = "debatable", _("Debatable")
    WRONG = "wrong", _("Wrong")


class Inspection(models.Model):
    """One annotation drawn for a manual check."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="inspections")
    annotation = models.OneToOneField("annotation.Annotation", on_delete=models.PROTECT, related_name="inspection")
    because = models.CharField(max_length=15, choices=[("sample", _("Sample")), ("no_agreement", _("No agreement"))])
    verdict = models.CharField(max_length=10, choices=InspectionVerdict, blank=True)
    inspected_by = models.ForeignKey("accounts.Surrogate", null=True, on_delete=models.PROTECT, related_name="+")
    inspected_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["campaign", "id"], condition=models.Q(verdict=""), name="inspection_waiting")]

    def __str__(self) -> str:
        return self.verdict or "waiting"


class InspectionTally(models.Model):
    """A counter that decides which of an annotator's annotations are drawn for a manual check.

    Each annotation adds the policy's share to ``carry``. When it reaches 1, an annotation is drawn and 1 is subtracted.
    The start value is random (seeded), so chance decides which annotations are drawn, but not how many.
    """

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="+", db_index=False)
    surrogate = models.ForeignKey("accounts.Surrogate", on_delete=models.PROTECT, related_name="+")
    carry = models.FloatField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "surrogate"], name="inspection_tally_once")]

    def __str__(self) -> str:
        return f"{self.carry:.3f}"


class CaseState(models.TextChoices):
    """The state of a case."""

    OPEN = "open", _("Open")  # each expert judges alone
    CONSENSUS = "consensus", _("Under discussion")  # all have judged, and differ
    DECIDED = "decided", _("Decided")
    RECALLED = "recalled", _("Recalled")


REFERENCE = "of_reference"  # marks the parts of a drawn item's case that its reference annotation said


# An item is before the experts once at a time.
PENDING = (CaseState.OPEN, CaseState.CONSENSUS)


class CaseReason(models.TextChoices):
    """The reason for sending an item to experts, which experts who judge it don't see."""

    NO_AGREEMENT = "no_agreement", _("No agreement")
    DOUBT = "doubt", _("Inconclusive votes")
    INSPECTION = "inspection", _("Spot check")
    MANAGER = "manager", _("Requested by a manager")
    SAMPLE = "sample", _("Sample")
    GOLD = "gold", _("Gold question")
    AUDIT = "audit", _("Audit")
    SYSTEMS = "systems", _("Comparison of systems")


class Case(models.Model):
    """An item sent to experts: the parts to judge (`annotation.tasktypes.base.Part`), and the number of experts."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="cases")
    item = models.ForeignKey("annotation.Item", on_delete=models.PROTECT, related_name="cases")
    state = models.CharField(max_length=10, choices=CaseState, default=CaseState.OPEN)
    because = models.CharField(max_length=15, choices=CaseReason, default=CaseReason.NO_AGREEMENT)
    experts = models.PositiveSmallIntegerField(default=1)
    parts = models.JSONField(default=list)
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["item"], condition=models.Q(state__in=["open", "consensus"]), name="case_pending_once"
            ),
            models.CheckConstraint(condition=models.Q(experts__gte=1), name="case_asks_somebody"),
        ]
        indexes = [
            models.Index(fields=["campaign", "id"], condition=models.Q(state="open"), name="case_open"),
            models.Index(fields=["campaign", "id"], condition=models.Q(state="consensus"), name="case_in_discussion"),
        ]

    def __str__(self) -> str:
        return f"case {self.pk}"


class Phase(models.TextChoices):
    """The kind of an opinion: given alone, a proposed consensus, or the consensus that decided the case."""

    BLIND = "blind", _("Independent judgment")
    PROPOSED = "proposed", _("Proposed consensus")
    CONSENSUS = "consensus", _("Consensus")


class Opinion(models.Model):
    """One expert's judgment of a case, made without seeing other opinions; a proposed consensus; or the consensus.

    ``said`` holds a grade of the task type for each part of the case, by the part's key. ``surrogate`` of a consensus
    is the expert who proposed it, or the manager who decided because the experts didn't agree in time.
    """

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="opinions")
    surrogate = models.ForeignKey("accounts.Surrogate", on_delete=models.PROTECT, related_name="+")
    phase = models.CharField(max_length=10, choices=Phase, default=Phase.BLIND)
    said = models.JSONField(default=dict)
    justification = models.CharField(max_length=2000, blank=True)
    at = models.DateTimeField()
    # Of a consensus: the other expert who confirmed it. Nobody where all said the same alone, and where a manager decided.
    confirmed_by = models.ForeignKey("accounts.Surrogate", null=True, on_delete=models.PROTECT, related_name="+")
    by_manager = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["case", "surrogate", "phase"], condition=~models.Q(phase="proposed"), name="opinion_once"
            ),
            models.UniqueConstraint(fields=["case"], condition=models.Q(phase="consensus"), name="consensus_once"),
        ]

    def __str__(self) -> str:
        return f"opinion {self.said}"

    @property
    def label(self) -> Any:
        """The chosen label, if the task type's answers are labels."""
        return self.said.get(LABEL)


class CaseMessage(models.Model):
    """An expert's message in the discussion of a case."""

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="messages")
    surrogate = models.ForeignKey("accounts.Surrogate", on_delete=models.PROTECT, related_name="+")
    text = models.CharField(max_length=2000)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.text[:60]
