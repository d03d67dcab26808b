"""The models for gold keys and gold checks."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class GoldKeyState(models.TextChoices):
    """The state of a gold key, which decides whether annotators are checked with it."""

    WAITING = "waiting", _("Waiting for experts")
    ACTIVE = "active", _("In use")
    RETIRED = "retired", _("Retired")


class GoldKey(models.Model):
    """The accepted answers of a gold question, an item of the gold batch."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="gold_keys")
    item = models.OneToOneField("annotation.Item", on_delete=models.CASCADE, related_name="gold_key")
    accepted = models.JSONField()
    state = models.CharField(max_length=10, choices=GoldKeyState, default=GoldKeyState.ACTIVE)
    confirmed_at = models.DateTimeField(null=True, blank=True)  # by experts who were not told that it is a key
    retired_reason = models.CharField(max_length=300, blank=True)
    exposures = models.PositiveIntegerField(default=0)

    class Meta:
        indexes = [models.Index(fields=["campaign", "exposures", "id"], name="gold_key_least_shown")]

    def __str__(self) -> str:
        return f"gold key {self.pk}"


class GoldCheck(models.Model):
    """The comparison of one annotation with its gold key."""

    annotation = models.OneToOneField("annotation.Annotation", on_delete=models.PROTECT, related_name="gold_check")
    key = models.ForeignKey(GoldKey, on_delete=models.PROTECT, related_name="checks")
    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="gold_checks")
    surrogate = models.ForeignKey("accounts.Surrogate", on_delete=models.PROTECT, related_name="+")
    is_hit = models.BooleanField()
    missed_at = models.CharField(max_length=20, blank=True)  # the stage
    is_void = models.BooleanField(default=False)  # the key was wrong: held against nobody
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["campaign", "surrogate", "id"], name="gold_check_by_person")]

    def __str__(self) -> str:
        return "hit" if self.is_hit else "miss"
