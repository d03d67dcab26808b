"""The annotations that could not be examined."""

from django.db import models


class Unexamined(models.Model):
    """An annotation that could not be examined. It is retried at growing intervals; managers see the error."""

    annotation = models.OneToOneField("annotation.Annotation", on_delete=models.CASCADE, related_name="unexamined")
    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="unexamined")
    attempts = models.PositiveIntegerField(default=0)
    error = models.CharField(max_length=500)
    try_at = models.DateTimeField()
    since = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["campaign", "try_at"], name="unexamined_by_campaign")]

    def __str__(self) -> str:
        return self.error
