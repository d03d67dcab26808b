"""Questions that annotators found offensive."""

from django.db import models


class Flag(models.Model):
    """A question that annotators found offensive, and whether releases list it."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="flags")
    question_id = models.CharField(max_length=200)
    is_listed = models.BooleanField(null=True)  # None until a manager has decided
    decided_by = models.ForeignKey("accounts.Surrogate", null=True, on_delete=models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "question_id"], name="flag_once")]

    def __str__(self) -> str:
        return self.question_id
