"""HIT types, HITs, assignments and bonuses."""

from decimal import Decimal

from django.db import models
from django.db.models import F, Q

from marketplace.models.fields import MoneyField
from marketplace.models.people import Requester, Worker


class HitType(models.Model):
    """The shared values of HITs: title, reward, times, requirements. Equal values make the same type."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="hit_types")
    hit_type_id = models.CharField(max_length=64, unique=True)
    group_id = models.CharField(max_length=64, unique=True)
    fingerprint = models.CharField(max_length=64)
    title = models.CharField(max_length=128)
    description = models.TextField()
    keywords = models.TextField(null=True)
    reward = MoneyField()
    assignment_seconds = models.BigIntegerField()
    auto_approval_seconds = models.BigIntegerField()
    requirements = models.JSONField(default=list)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["requester", "fingerprint"], name="equal_values_are_one_type"),
            models.CheckConstraint(name="reward_not_negative", condition=Q(reward__gte=0)),
        ]

    def __str__(self) -> str:
        return self.title


class HitLayout(models.Model):
    """A question with ``${placeholders}``, kept for CreateHIT's HITLayoutId."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="layouts")
    layout_id = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=100)
    html = models.TextField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["requester", "name"], name="one_layout_a_name")]

    def __str__(self) -> str:
        return self.name


class Hit(models.Model):
    """One posted task, done up to ``max_assignments`` times by different people."""

    class State(models.TextChoices):
        """The states of the protocol's HITStatus."""

        ASSIGNABLE = "Assignable"
        UNASSIGNABLE = "Unassignable"
        REVIEWABLE = "Reviewable"
        REVIEWING = "Reviewing"
        DISPOSED = "Disposed"

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="hits")
    hit_type = models.ForeignKey(HitType, on_delete=models.PROTECT, related_name="hits")
    hit_id = models.CharField(max_length=64, unique=True)
    question = models.TextField()
    question_kind = models.CharField(max_length=20)
    layout_id = models.CharField(max_length=64, null=True)
    max_assignments = models.PositiveIntegerField()
    # Fixed at creation: the money held for one assignment is reward + fee_each.
    reward = MoneyField()
    fee_each = MoneyField()
    annotation = models.CharField(max_length=255, null=True)
    assignment_review_policy = models.JSONField(null=True)
    state = models.CharField(max_length=12, choices=State, default=State.ASSIGNABLE)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    is_expired = models.BooleanField(default=False)  # the expiry event has been carried out
    reviewable_at = models.DateTimeField(null=True)
    held = MoneyField()
    # Live assignments by what they wait for; written under the row's lock, and never above what is wanted.
    pending = models.PositiveIntegerField(default=0)
    undecided = models.PositiveIntegerField(default=0)
    completed = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(null=True)  # when time alone changes something here next

    class Meta:
        indexes = [
            models.Index(fields=["requester", "due_at"], name="hit_due"),
            models.Index(fields=["due_at"], name="hit_due_all"),
            models.Index(fields=["requester", "state", "id"], name="hit_by_state"),
            models.Index(fields=["hit_type", "state", "expires_at", "id"], name="hit_open"),
        ]
        constraints = [
            models.CheckConstraint(name="hit_wants_somebody", condition=Q(max_assignments__gte=1)),
            models.CheckConstraint(
                name="hit_never_overfull",
                condition=Q(max_assignments__gte=F("pending") + F("undecided") + F("completed")),
            ),
            models.CheckConstraint(name="hit_held_not_negative", condition=Q(held__gte=0)),
        ]

    def __str__(self) -> str:
        return self.hit_id

    @property
    def available(self) -> int:
        """Return the number of assignments that are still wanted, even if the HIT has expired."""
        return self.max_assignments - self.pending - self.undecided - self.completed

    @property
    def cost_each(self) -> Decimal:
        """Return what one approved assignment costs in dollars."""
        cost: Decimal = self.reward + self.fee_each
        return cost


class Assignment(models.Model):
    """One worker's acceptance of a HIT, with its outcome."""

    class State(models.TextChoices):
        """The states of an assignment. The requester API doesn't show accepted, returned and abandoned assignments."""

        ACCEPTED = "Accepted"
        SUBMITTED = "Submitted"
        APPROVED = "Approved"
        REJECTED = "Rejected"
        RETURNED = "Returned"
        ABANDONED = "Abandoned"

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="assignments")
    hit = models.ForeignKey(Hit, on_delete=models.CASCADE, related_name="assignments")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="assignments")
    assignment_id = models.CharField(max_length=64)
    slot = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.ACCEPTED)
    accepted_at = models.DateTimeField()
    deadline_at = models.DateTimeField()
    submitted_at = models.DateTimeField(null=True)
    auto_approval_at = models.DateTimeField(null=True)
    approved_at = models.DateTimeField(null=True)
    rejected_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)  # returned or abandoned
    answer = models.TextField(default="")
    feedback = models.TextField(default="")
    # As they were when it was accepted.
    reward = MoneyField()
    fee = MoneyField()

    class Meta:
        # Scarcity by constraint: a slot, a worker's place and an id are each held once among live assignments.
        constraints = [
            models.UniqueConstraint(
                fields=["hit", "slot"],
                condition=Q(state__in=["Accepted", "Submitted", "Approved", "Rejected"]),
                name="one_live_assignment_a_slot",
            ),
            models.UniqueConstraint(
                fields=["hit", "worker"],
                condition=Q(state__in=["Accepted", "Submitted", "Approved", "Rejected"]),
                name="one_live_assignment_a_worker",
            ),
            models.UniqueConstraint(
                fields=["assignment_id"],
                condition=Q(state__in=["Accepted", "Submitted", "Approved", "Rejected"]),
                name="one_live_assignment_an_id",
            ),
            models.CheckConstraint(name="deadline_after_accept", condition=Q(deadline_at__gt=F("accepted_at"))),
        ]
        indexes = [
            models.Index(fields=["hit", "state", "id"], name="assignment_by_hit"),
            models.Index(fields=["hit", "state", "deadline_at"], name="assignment_by_deadline"),
            models.Index(fields=["hit", "state", "auto_approval_at"], name="assignment_by_approval"),
            models.Index(fields=["worker", "state", "id"], name="assignment_by_worker"),
            models.Index(fields=["requester", "state", "id"], name="assignment_by_requester"),
        ]

    def __str__(self) -> str:
        return self.assignment_id


LIVE = (
    Assignment.State.ACCEPTED,
    Assignment.State.SUBMITTED,
    Assignment.State.APPROVED,
    Assignment.State.REJECTED,
)
VISIBLE = LIVE[1:]  # to the requester
ENDED = (Assignment.State.RETURNED, Assignment.State.ABANDONED)


class Bonus(models.Model):
    """A payment in addition to the reward."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="bonuses")
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="bonuses")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="bonuses")
    amount = MoneyField()
    fee = MoneyField()
    reason = models.TextField()
    granted_at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(name="bonus_positive", condition=Q(amount__gt=0))]

    def __str__(self) -> str:
        return f"{self.amount} for {self.assignment_id}"


class ReviewResult(models.Model):
    """A result or action of a review policy for one assignment."""

    hit = models.ForeignKey(Hit, on_delete=models.CASCADE, related_name="review_results")
    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="review_results")
    action_id = models.CharField(max_length=64)
    is_action = models.BooleanField()
    name = models.CharField(max_length=100)  # the result's key, or the action
    value = models.CharField(max_length=200)
    question_id = models.CharField(max_length=255, null=True)
    status = models.CharField(max_length=10, default="Succeeded")
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name}: {self.value}"
