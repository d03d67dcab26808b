"""Numbers that jobs compute, so that no page counts rows."""

from django.db import models


class QualitySnapshot(models.Model):
    """The numbers of quality control at a moment, computed by a job so that no page counts rows."""

    campaign = models.OneToOneField("annotation.Campaign", primary_key=True, on_delete=models.CASCADE)
    taken_at = models.DateTimeField()
    version = models.CharField(max_length=200, default="")  # what they were computed from
    data = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"quality of {self.campaign_id}"


class StudySnapshot(models.Model):
    """What the studies of a campaign came to."""

    campaign = models.OneToOneField("annotation.Campaign", primary_key=True, on_delete=models.CASCADE)
    taken_at = models.DateTimeField()
    version = models.CharField(max_length=200)  # what they were computed from
    data = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"studies of {self.campaign_id}"


class TargetSnapshot(models.Model):
    """How far a campaign is on the way to its acceptable share of wrong labels, and what is to come.

    ``calibration``: the first audit that was finished says how much to doubt what the model says, from then on.
    """

    campaign = models.OneToOneField("annotation.Campaign", primary_key=True, on_delete=models.CASCADE)
    calibration = models.ForeignKey("quality.Audit", null=True, on_delete=models.PROTECT, related_name="+")
    taken_at = models.DateTimeField()
    version = models.CharField(max_length=200)  # what it was computed from
    data = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"target of {self.campaign_id}"


class BehaviourSnapshot(models.Model):
    """What was computed of how people work; deleted when one of them leaves, since it compares them with each other."""

    campaign = models.OneToOneField("annotation.Campaign", primary_key=True, on_delete=models.CASCADE)
    taken_at = models.DateTimeField()
    version = models.CharField(max_length=200)  # what it was computed from
    data = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"behaviour in {self.campaign_id}"


class CampaignPlan(models.Model):
    """A forecast of a campaign's cost and quality; never changed, so that it can be compared with what came."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="plans")
    made_at = models.DateTimeField()
    data = models.JSONField()

    def __str__(self) -> str:
        return f"plan of {self.campaign_id}"
