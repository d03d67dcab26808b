"""Numbers that jobs compute, and saved forecasts."""

from django.db import models


class QualitySnapshot(models.Model):
    """A campaign's quality numbers at one time, computed by a job so that pages don't count rows."""

    campaign = models.OneToOneField("annotation.Campaign", primary_key=True, on_delete=models.CASCADE)
    taken_at = models.DateTimeField()
    version = models.CharField(max_length=200, default="")  # what they were computed from
    data = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"quality of {self.campaign_id}"


class CampaignPlan(models.Model):
    """A forecast of a campaign's cost and quality, never changed, so it can be compared with the actual results."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="plans")
    made_at = models.DateTimeField()
    data = models.JSONField()

    def __str__(self) -> str:
        return f"plan of {self.campaign_id}"
