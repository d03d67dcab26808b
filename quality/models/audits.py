"""Audits: labels that were frozen, drawn by chance, and judged by experts who did not set them."""

from django.db import models

from quality.models.labels import Case, Verdict


class Audit(models.Model):
    """A random sample of the labels in force at a moment.

    ``strata``: for each, from the least doubtful labels to the most, how many items it has and how many were drawn.
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
    """One label of an audit, and the case in which experts judge its item without knowing it."""

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
