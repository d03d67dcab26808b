"""What quality control knows: policies, gold keys and checks, verdicts, cases, inspections, reviews of people."""

from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.tasktypes.labels import LABEL


class PolicyVersion(models.Model):
    """One version of a campaign's policy (see `quality.rules.policy`). A change is a new version."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="policies")
    version = models.PositiveIntegerField()
    data = models.JSONField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "version"], name="policy_version_once")]

    def __str__(self) -> str:
        return f"policy {self.version}"


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


class Rule(models.TextChoices):
    """By which way an item came to its label."""

    MAJORITY = "majority", _("Majority of the first round")
    SECOND = "second", _("Majority of the second round")
    POOLED = "pooled", _("Most votes of both rounds")
    EXPERT = "expert", _("Expert")


class Verdict(models.Model):
    """The label of an item. Superseded, never changed; recomputable from its inputs, its rule and its policy."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="verdicts")
    item = models.ForeignKey("annotation.Item", on_delete=models.PROTECT, related_name="verdicts")
    label = models.JSONField()
    rule = models.CharField(max_length=10, choices=Rule)
    policy = models.ForeignKey(PolicyVersion, on_delete=models.PROTECT, related_name="+")
    annotations = models.ManyToManyField("annotation.Annotation", related_name="verdicts")
    opinion = models.ForeignKey("quality.Opinion", null=True, on_delete=models.PROTECT, related_name="verdicts")
    decided_at = models.DateTimeField()
    superseded_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item"], condition=models.Q(superseded_at=None), name="verdict_in_force"),
            models.CheckConstraint(
                condition=models.Q(rule="expert", opinion__isnull=False)
                | (~models.Q(rule="expert") & models.Q(opinion__isnull=True)),
                name="verdict_opinion_of_expert",
            ),
        ]
        indexes = [models.Index(fields=["campaign", "id"], name="verdict_by_campaign")]

    def __str__(self) -> str:
        return f"{self.label} by {self.rule}"


class CaseState(models.TextChoices):
    """Where an item stands before the experts."""

    OPEN = "open", _("Open")  # each expert judges alone
    CONSENSUS = "consensus", _("In discussion")  # all have judged, and differ
    DECIDED = "decided", _("Decided")
    RECALLED = "recalled", _("Recalled")


# An item is before the experts once at a time.
PENDING = (CaseState.OPEN, CaseState.CONSENSUS)


class CaseReason(models.TextChoices):
    """Why an item came before the experts; those who judge it alone are not told."""

    NO_AGREEMENT = "no_agreement", _("No agreement")
    INSPECTION = "inspection", _("Inspection")
    MANAGER = "manager", _("A manager asked")
    SAMPLE = "sample", _("Sample")
    GOLD = "gold", _("Gold key")


class Case(models.Model):
    """An item before the experts: what they judge of it (`annotation.tasktypes.base.Part`), and how many are asked."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="cases")
    item = models.ForeignKey("annotation.Item", on_delete=models.PROTECT, related_name="cases")
    state = models.CharField(max_length=10, choices=CaseState, default=CaseState.OPEN)
    because = models.CharField(max_length=15, choices=CaseReason, default=CaseReason.NO_AGREEMENT)
    experts = models.PositiveSmallIntegerField(default=1)
    parts = models.JSONField(default=list)
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["item"], condition=models.Q(state__in=["open", "consensus"]), name="case_pending_once"
            ),
            models.CheckConstraint(condition=models.Q(experts__gte=1), name="case_asks_somebody"),
        ]
        indexes = [
            models.Index(fields=["campaign", "id"], condition=models.Q(state="open"), name="case_open"),
            models.Index(fields=["campaign", "id"], condition=models.Q(state="consensus"), name="case_in_discussion"),
        ]

    def __str__(self) -> str:
        return f"case {self.pk}"


class Phase(models.TextChoices):
    """Whether an expert spoke alone or for all."""

    BLIND = "blind", _("Alone")
    CONSENSUS = "consensus", _("Consensus")


class Opinion(models.Model):
    """One expert's judgement of a case, made without seeing what others said; or the consensus of all of them.

    ``said`` holds a grade of the task type for each part of the case, by the part's key.
    """

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="opinions")
    surrogate = models.ForeignKey("accounts.Surrogate", on_delete=models.PROTECT, related_name="+")
    phase = models.CharField(max_length=10, choices=Phase, default=Phase.BLIND)
    said = models.JSONField(default=dict)
    justification = models.CharField(max_length=2000, blank=True)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["case", "surrogate", "phase"], name="opinion_once"),
            models.UniqueConstraint(fields=["case"], condition=models.Q(phase="consensus"), name="consensus_once"),
        ]

    def __str__(self) -> str:
        return f"opinion {self.said}"

    @property
    def label(self) -> Any:
        """The label that was chosen, where the answers of the task type are labels."""
        return self.said.get(LABEL)


class CaseMessage(models.Model):
    """What an expert wrote to the others while they discuss a case."""

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="messages")
    surrogate = models.ForeignKey("accounts.Surrogate", on_delete=models.PROTECT, related_name="+")
    text = models.CharField(max_length=2000)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.text[:60]


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


class ReviewState(models.TextChoices):
    """What a manager decided about the annotator of a review."""

    OPEN = "open", _("Waits for a decision")
    REINSTATED = "reinstated", _("Reinstated")
    SUSPENDED = "suspended", _("Suspended")


class Review(models.Model):
    """An annotator about whom a manager is to decide: mostly one who was paused; one who drifts works on.

    Without a decision in time, what is held is paid.

    Who was suspended can appeal, once for each suspension; a manager answers.
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
    """A rule over what people do (see `quality.rules.watching`). Never changed: another one takes its place."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="watch_rules")
    collector = models.CharField(
        max_length=12,
        choices=[
            ("gold", _("Share of gold checks missed")), ("inspection", _("Share of inspected answers found wrong")),
            ("speed", _("Median seconds of an answer")), ("same", _("Share of the most frequent answer")),
            ("skips", _("Share of items skipped, but for what upsets")),
        ],
    )  # fmt: skip
    is_above = models.BooleanField(choices=[(True, _("above")), (False, _("below"))], default=True)
    limit = models.FloatField()
    window = models.PositiveIntegerField()
    least = models.PositiveIntegerField()
    act = models.CharField(
        max_length=10, choices=[("notify", _("Tell managers")), ("warn", _("Warn")), ("pause", _("Pause, before a manager"))]
    )  # fmt: skip
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["campaign", "id"], condition=models.Q(ended_at=None), name="watch_rule_active")]

    def __str__(self) -> str:
        return f"{self.collector} {'>' if self.is_above else '<'} {self.limit}"


class RuleFiring(models.Model):
    """That a rule fired at a fact about a person; once for each fact."""

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


class QualitySnapshot(models.Model):
    """The numbers of quality control at a moment, computed by a job so that no page counts rows."""

    campaign = models.OneToOneField("annotation.Campaign", primary_key=True, on_delete=models.CASCADE)
    taken_at = models.DateTimeField()
    version = models.CharField(max_length=200, default="")  # what they were computed from
    data = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"quality of {self.campaign_id}"


class BehaviourSnapshot(models.Model):
    """What was computed of how people work; deleted when one of them leaves, since it compares them with each other."""

    campaign = models.OneToOneField("annotation.Campaign", primary_key=True, on_delete=models.CASCADE)
    taken_at = models.DateTimeField()
    version = models.CharField(max_length=200)  # what it was computed from
    data = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"behaviour in {self.campaign_id}"
