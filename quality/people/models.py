"""Reviews of annotators, rules on their behavior, and statistics on how they work."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class ReviewState(models.TextChoices):
    """What a manager decided about the annotator of a review."""

    OPEN = "open", _("Waiting for a decision")
    REINSTATED = "reinstated", _("Reinstated")
    SUSPENDED = "suspended", _("Suspended")


class Review(models.Model):
    """A pending decision about an annotator. Most were paused; annotators with declining accuracy can keep working.

    Without a decision in time, held pay is released.

    Suspended annotators can appeal once per suspension; a manager answers.
    """

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="reviews")
    surrogate = models.ForeignKey("accounts.Surrogate", on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=10, choices=ReviewState, default=ReviewState.OPEN)
    evidence = models.JSONField(default=dict)
    opened_at = models.DateTimeField()
    decide_by = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey("accounts.Surrogate", null=True, on_delete=models.PROTECT, related_name="+")
    reason = models.CharField(max_length=1000, blank=True)
    refuses_pay = models.BooleanField(default=False)
    appeal = models.CharField(max_length=2000, blank=True)
    appealed_at = models.DateTimeField(null=True, blank=True)
    appeal_answer = models.CharField(max_length=2000, blank=True)
    appeal_decided_at = models.DateTimeField(null=True, blank=True)
    appeal_decided_by = models.ForeignKey("accounts.Surrogate", null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "surrogate"], condition=models.Q(state="open"), name="review_open_once"
            )
        ]
        indexes = [
            models.Index(
                fields=["campaign", "id"],
                condition=models.Q(appealed_at__isnull=False, appeal_decided_at=None),
                name="review_appealed",
            )
        ]

    def __str__(self) -> str:
        return f"review {self.state}"


class WatchRule(models.Model):
    """A rule on people's behavior (see `quality.people.rules`). Never changed, only replaced by another rule."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="watch_rules")
    collector = models.CharField(
        max_length=12,
        choices=[
            ("gold", _("Share of gold checks missed")),
            ("inspection", _("Share of spot-checked answers found wrong")),
            ("speed", _("Median seconds per answer")),
            ("same", _("Share of the most frequent answer")),
            ("skips", _("Share of items skipped (not counting offensive ones)")),
        ],
    )
    is_above = models.BooleanField(choices=[(True, _("above")), (False, _("below"))], default=True)
    limit = models.FloatField()
    window = models.PositiveIntegerField()
    least = models.PositiveIntegerField()
    act = models.CharField(
        max_length=10,
        choices=[("notify", _("Notify managers")), ("warn", _("Warn")), ("pause", _("Pause pending review"))],
    )
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["campaign", "id"], condition=models.Q(ended_at=None), name="watch_rule_active")]

    def __str__(self) -> str:
        return f"{self.collector} {'>' if self.is_above else '<'} {self.limit}"


class RuleFiring(models.Model):
    """The firing of a rule at a fact about a person; at most one per fact."""

    rule = models.ForeignKey(WatchRule, on_delete=models.CASCADE, related_name="firings")
    surrogate = models.ForeignKey("accounts.Surrogate", on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=10)
    key = models.BigIntegerField()
    value = models.FloatField()
    fact_at = models.DateTimeField()
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["rule", "surrogate", "kind", "key"], name="rule_firing_once")]

    def __str__(self) -> str:
        return f"rule {self.rule_id} at {self.kind} {self.key}"


class BehaviourSnapshot(models.Model):
    """Statistics on how people work.

    They compare people with each other, so they are deleted when one of the people leaves.
    """

    campaign = models.OneToOneField("annotation.Campaign", primary_key=True, on_delete=models.CASCADE)
    taken_at = models.DateTimeField()
    version = models.CharField(max_length=200)  # what it was computed from
    data = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"behaviour in {self.campaign_id}"
