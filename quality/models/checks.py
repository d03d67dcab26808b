"""How answers are checked: gold keys, inspections, and what could not be examined."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class GoldKeyState(models.TextChoices):
    """Whether people are checked with a key."""

    WAITING = "waiting", _("Waits for an expert")
    ACTIVE = "active", _("In use")
    RETIRED = "retired", _("Retired")


class GoldKey(models.Model):
    """A known answer: the answers that are accepted for an item of the gold batch."""

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


class InspectionVerdict(models.TextChoices):
    """What a manual check found."""

    GOOD = "good", _("Right")
    DEBATABLE = "debatable", _("Debatable")
    WRONG = "wrong", _("Wrong")


class Inspection(models.Model):
    """One annotation drawn for manual reading."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="inspections")
    annotation = models.OneToOneField("annotation.Annotation", on_delete=models.PROTECT, related_name="inspection")
    because = models.CharField(max_length=15, choices=[("sample", _("Sample")), ("no_agreement", _("No agreement"))])
    verdict = models.CharField(max_length=10, choices=InspectionVerdict, blank=True)
    inspected_by = models.ForeignKey("accounts.Surrogate", null=True, on_delete=models.PROTECT, related_name="+")
    inspected_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["campaign", "id"], condition=models.Q(verdict=""), name="inspection_waiting")]

    def __str__(self) -> str:
        return self.verdict or "waiting"


class InspectionTally(models.Model):
    """How far an annotator's work is from the next annotation that is drawn for reading.

    Each adds the share of the policy to ``carry``; at 1 one is drawn and 1 is taken off. It begins at a seeded place, so
    that which ones are drawn is chance, and how many is not.
    """

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="+", db_index=False)
    surrogate = models.ForeignKey("accounts.Surrogate", on_delete=models.PROTECT, related_name="+")
    carry = models.FloatField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "surrogate"], name="inspection_tally_once")]

    def __str__(self) -> str:
        return f"{self.carry:.3f}"


class Unexamined(models.Model):
    """An annotation that could not be examined. It is tried again ever more rarely; managers see the error."""

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


class Flag(models.Model):
    """A question that people found offensive, and whether releases list it."""

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
