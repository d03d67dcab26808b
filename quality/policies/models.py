"""The versions of a campaign's policy."""

from django.db import models


class PolicyVersion(models.Model):
    """One version of a campaign's policy (see `quality.policies.policy`). A change is a new version."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="policies")
    version = models.PositiveIntegerField()
    data = models.JSONField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "version"], name="policy_version_once")]

    def __str__(self) -> str:
        return f"policy {self.version}"
