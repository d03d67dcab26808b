"""Votes that are bought in waves where labels are doubtful (`measures.targets`)."""

from django.db import models

from quality.models.audits import Audit
from quality.models.labels import PolicyVersion


class Wave(models.Model):
    """One more vote for each of some items, or experts for them, decided upon at once.

    ``votes`` and ``cases`` name the items, the most doubtful first; ``done`` of both together have got theirs. ``cents``
    is what they cost, ``predicted`` the share of wrong labels that was expected when the wave began.
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
