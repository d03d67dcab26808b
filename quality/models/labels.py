"""Policies, the labels of items, and the experts who decide where annotators do not."""

from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.tasktypes.labels import LABEL


class PolicyVersion(models.Model):
    """One version of a campaign's policy (see `quality.rules.policy`). A change is a new version."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="policies")
    version = models.PositiveIntegerField()
    data = models.JSONField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "version"], name="policy_version_once")]

    def __str__(self) -> str:
        return f"policy {self.version}"


class Rule(models.TextChoices):
    """By which way an item came to its label."""

    MAJORITY = "majority", _("Majority of the first round")
    SECOND = "second", _("Majority of the second round")
    POOLED = "pooled", _("Most votes of both rounds")
    PLURALITY = "plurality", _("Most votes")
    EXPERT = "expert", _("Expert")


class Verdict(models.Model):
    """The label of an item. Superseded, never changed; recomputable from its inputs, its rule and its policy."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="verdicts")
    item = models.ForeignKey("annotation.Item", on_delete=models.PROTECT, related_name="verdicts")
    label = models.JSONField()
    rule = models.CharField(max_length=10, choices=Rule)
    policy = models.ForeignKey(PolicyVersion, on_delete=models.PROTECT, related_name="+")
    annotations = models.ManyToManyField("annotation.Annotation", related_name="verdicts")
    opinion = models.ForeignKey("quality.Opinion", null=True, on_delete=models.PROTECT, related_name="verdicts")
    decided_at = models.DateTimeField()
    superseded_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item"], condition=models.Q(superseded_at=None), name="verdict_in_force"),
            models.CheckConstraint(
                condition=models.Q(rule="expert", opinion__isnull=False)
                | (~models.Q(rule="expert") & models.Q(opinion__isnull=True)),
                name="verdict_opinion_of_expert",
            ),
        ]
        indexes = [models.Index(fields=["campaign", "id"], name="verdict_by_campaign")]

    def __str__(self) -> str:
        return f"{self.label} by {self.rule}"


class CaseState(models.TextChoices):
    """Where an item stands before the experts."""

    OPEN = "open", _("Open")  # each expert judges alone
    CONSENSUS = "consensus", _("In discussion")  # all have judged, and differ
    DECIDED = "decided", _("Decided")
    RECALLED = "recalled", _("Recalled")


REFERENCE = "of_reference"  # marks the parts of a sample's case that its reference annotation said

# An item is before the experts once at a time.
PENDING = (CaseState.OPEN, CaseState.CONSENSUS)


class CaseReason(models.TextChoices):
    """Why an item came before the experts; those who judge it alone are not told."""

    NO_AGREEMENT = "no_agreement", _("No agreement")
    DOUBT = "doubt", _("Votes leave doubt")
    INSPECTION = "inspection", _("Inspection")
    MANAGER = "manager", _("A manager asked")
    SAMPLE = "sample", _("Sample")
    GOLD = "gold", _("Gold key")
    AUDIT = "audit", _("Audit")


class Case(models.Model):
    """An item before the experts: what they judge of it (`annotation.tasktypes.base.Part`), and how many are asked."""

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
    """Whether an expert spoke alone or for all."""

    BLIND = "blind", _("Alone")
    CONSENSUS = "consensus", _("Consensus")


class Opinion(models.Model):
    """One expert's judgement of a case, made without seeing what others said; or the consensus of all of them.

    ``said`` holds a grade of the task type for each part of the case, by the part's key.
    """

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="opinions")
    surrogate = models.ForeignKey("accounts.Surrogate", on_delete=models.PROTECT, related_name="+")
    phase = models.CharField(max_length=10, choices=Phase, default=Phase.BLIND)
    said = models.JSONField(default=dict)
    justification = models.CharField(max_length=2000, blank=True)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["case", "surrogate", "phase"], name="opinion_once"),
            models.UniqueConstraint(fields=["case"], condition=models.Q(phase="consensus"), name="consensus_once"),
        ]

    def __str__(self) -> str:
        return f"opinion {self.said}"

    @property
    def label(self) -> Any:
        """The label that was chosen, where the answers of the task type are labels."""
        return self.said.get(LABEL)


class CaseMessage(models.Model):
    """What an expert wrote to the others while they discuss a case."""

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="messages")
    surrogate = models.ForeignKey("accounts.Surrogate", on_delete=models.PROTECT, related_name="+")
    text = models.CharField(max_length=2000)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.text[:60]
