"""Deduplication of retried requests, and development tools: the clock and faults."""

from django.db import models
from django.db.models import Q

from marketplace.models.people import Requester


class UniqueRequest(models.Model):
    """A UniqueRequestToken that was used; it is stored for 24 hours."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE)
    operation = models.CharField(max_length=40)
    token = models.CharField(max_length=64)
    result = models.CharField(max_length=64)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["requester", "operation", "token"], name="a_token_works_once")]

    def __str__(self) -> str:
        return self.token


class UsedSignature(models.Model):
    """The signature of a request that moved money; sending the request again later has no effect."""

    signature = models.CharField(max_length=64, primary_key=True)
    used_at = models.DateTimeField(db_index=True)
    address = models.CharField(max_length=45, blank=True)  # the network address that it came from first

    def __str__(self) -> str:
        return self.signature[:8]


class ClockSetting(models.Model):
    """The offset of the marketplace's clock from real time. One row; development only."""

    offset_seconds = models.BigIntegerField(default=0)
    frozen_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.CheckConstraint(name="one_clock", condition=Q(id=1))]

    def __str__(self) -> str:
        return f"{self.offset_seconds:+d} s"


class Fault(models.Model):
    """A deliberate fault in responses, a given number of times. Development only."""

    class Kind(models.TextChoices):
        """The kind of fault."""

        THROTTLE = "throttle"
        ERROR = "error-500"
        UNAVAILABLE = "error-505"
        DROP_BEFORE = "drop-before"
        DROP_AFTER = "drop-after"
        SLOW = "slow"
        TRUNCATE = "truncate"
        DUPLICATE = "duplicate"
        LOSE = "lose"

    operation = models.CharField(max_length=50)  # "*" is any; "Notification" is the messages to requesters
    kind = models.CharField(max_length=12, choices=Kind)
    remaining = models.PositiveIntegerField(default=1)
    seconds = models.FloatField(default=1.0)

    class Meta:
        indexes = [models.Index(fields=["operation"], name="fault_by_operation")]

    def __str__(self) -> str:
        return f"{self.operation}: {self.kind} × {self.remaining}"
