"""Qualification types, their holders, and requests for them."""

from django.db import models
from django.db.models import Q

from marketplace.models.people import Requester, Worker


class QualificationType(models.Model):
    """A qualification that a requester can require of workers."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="qualification_types")
    qualification_type_id = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=200)
    description = models.TextField()
    keywords = models.TextField(null=True)
    is_active = models.BooleanField(default=True)
    is_requestable = models.BooleanField(default=True)
    test = models.TextField(null=True)
    answer_key = models.TextField(null=True)
    test_seconds = models.BigIntegerField(null=True)
    retry_delay_seconds = models.BigIntegerField(null=True)
    auto_granted = models.BooleanField(default=False)
    auto_granted_value = models.IntegerField(null=True)
    created_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "name"], condition=Q(deleted_at=None), name="one_qualification_type_a_name"
            ),
            models.CheckConstraint(
                name="no_test_where_granted_at_once", condition=Q(auto_granted=False) | Q(test__isnull=True)
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Qualification(models.Model):
    """A worker's current or former qualification."""

    qualification_type = models.ForeignKey(QualificationType, on_delete=models.CASCADE, related_name="qualifications")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="qualifications")
    value = models.IntegerField(null=True)
    is_granted = models.BooleanField(default=True)
    granted_at = models.DateTimeField()
    reason = models.TextField(default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["qualification_type", "worker"], name="one_qualification_a_worker")
        ]

    def __str__(self) -> str:
        return f"{self.worker}: {self.qualification_type} = {self.value}"


class QualificationRequest(models.Model):
    """A worker's request for a qualification, with or without a test."""

    class State(models.TextChoices):
        """The states of a request. A test in progress is a request that hasn't been sent yet."""

        BEGUN = "Begun"
        PENDING = "Pending"
        GRANTED = "Granted"
        REJECTED = "Rejected"

    qualification_type = models.ForeignKey(QualificationType, on_delete=models.CASCADE, related_name="requests")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="qualification_requests")
    request_id = models.CharField(max_length=64, unique=True)
    state = models.CharField(max_length=8, choices=State)
    # As they were when it was begun: a changed test is for those who begin after it.
    test = models.TextField(null=True)
    answer_key = models.TextField(null=True)
    test_seconds = models.BigIntegerField(null=True)
    answer = models.TextField(null=True)
    reason = models.TextField(default="")
    begun_at = models.DateTimeField()
    submitted_at = models.DateTimeField(null=True)
    decided_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["qualification_type", "worker"],
                condition=Q(state__in=["Begun", "Pending"]),
                name="one_open_request_a_worker",
            )
        ]

    def __str__(self) -> str:
        return self.request_id
