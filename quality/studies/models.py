"""Stored results of the studies of a campaign."""

from django.db import models


class StudySnapshot(models.Model):
    """The results of the studies of a campaign."""

    campaign = models.OneToOneField("annotation.Campaign", primary_key=True, on_delete=models.CASCADE)
    taken_at = models.DateTimeField()
    version = models.CharField(max_length=200)  # what they were computed from
    data = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"studies of {self.campaign_id}"
