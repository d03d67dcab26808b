"""The labels of items (verdicts), and how their error is measured (audits) and lowered (waves)."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from quality.experts.models import Case
from quality.policies.models import PolicyVersion


class Rule(models.TextChoices):
    """The rule that set an item's label."""

    MAJORITY = "majority", _("Majority of the first round")
    SECOND = "second", _("Majority of the second round")
    POOLED = "pooled", _("Most votes across both rounds")
    PLURALITY = "plurality", _("Most frequent label")
    EXPERT = "expert", _("Expert")


class Verdict(models.Model):
    """The label of an item. Superseded, never changed; can be recomputed from its inputs, its rule and its policy."""

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


class Audit(models.Model):
    """A random sample of the labels in force at a moment.

    ``strata``: the number of items and of drawn items in each stratum, from the least doubtful labels to the most.
    """

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="audits")
    seed = models.BigIntegerField()
    strata = models.JSONField()
    drawn_at = models.DateTimeField()
    drawn_by = models.ForeignKey("accounts.Surrogate", null=True, on_delete=models.PROTECT, related_name="+")
    called_off_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"audit {self.pk}"


class AuditItem(models.Model):
    """A label in an audit, and the case in which experts judge its item without knowing the label."""

    audit = models.ForeignKey(Audit, on_delete=models.CASCADE, related_name="items")
    verdict = models.ForeignKey(Verdict, on_delete=models.PROTECT, related_name="+")
    stratum = models.PositiveSmallIntegerField()
    doubt = models.FloatField(null=True)  # the predicted probability that the label is wrong; not of an expert's own
    experts = models.PositiveSmallIntegerField()
    case = models.OneToOneField(Case, null=True, on_delete=models.PROTECT, related_name="audit_item")
    is_left_out = models.BooleanField(default=False)  # retired, or before the experts for another reason, by then

    class Meta:
        constraints = [models.UniqueConstraint(fields=["audit", "verdict"], name="audit_item_once")]

    def __str__(self) -> str:
        return f"{self.audit_id}: {self.verdict_id}"


class Wave(models.Model):
    """A batch of further work, decided at once: one more vote for each of some items, and experts for others.

    ``votes`` and ``cases`` list the items, the most doubtful first; ``done`` is the number of them already processed.
    ``cents`` is their cost, ``predicted`` the expected share of wrong labels when the wave began.
    """

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="waves", db_index=False)
    number = models.PositiveIntegerField()
    policy = models.ForeignKey(PolicyVersion, on_delete=models.PROTECT, related_name="+")
    calibration = models.ForeignKey(Audit, null=True, on_delete=models.PROTECT, related_name="+")
    predicted = models.FloatField()
    votes = models.JSONField(default=list)
    cases = models.JSONField(default=list)
    done = models.PositiveIntegerField(default=0)
    cents = models.PositiveIntegerField()
    began_at = models.DateTimeField()
    is_complete = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "number"], name="wave_number_once")]

    def __str__(self) -> str:
        return f"wave {self.number}"


class TargetSnapshot(models.Model):
    """The progress of a campaign towards its acceptable share of wrong labels, and the next steps.

    ``calibration``: the first finished audit, which corrects the probabilities of the model from then on.
    """

    campaign = models.OneToOneField("annotation.Campaign", primary_key=True, on_delete=models.CASCADE)
    calibration = models.ForeignKey("quality.Audit", null=True, on_delete=models.PROTECT, related_name="+")
    taken_at = models.DateTimeField()
    version = models.CharField(max_length=200)  # what it was computed from
    data = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"target of {self.campaign_id}"
