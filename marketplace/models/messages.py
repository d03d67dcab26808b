"""Outgoing messages: notifications to requesters, messages to workers."""

from django.db import models

from marketplace.models.hits import HitType
from marketplace.models.people import Requester, Worker


class NotificationSettings(models.Model):
    """The destination for notifications about a requester's HIT type."""

    hit_type = models.OneToOneField(HitType, on_delete=models.CASCADE, related_name="notification")
    destination = models.TextField()
    transport = models.CharField(max_length=5)
    version = models.CharField(max_length=20)
    event_types = models.JSONField()
    is_active = models.BooleanField(default=True)

    def __str__(self) -> str:
        return f"{self.transport} {self.destination}"


class Delivery(models.Model):
    """One message to a requester. The row is saved first; sending happens later and is retried until it succeeds."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE)
    destination = models.TextField()
    transport = models.CharField(max_length=5)
    message_id = models.CharField(max_length=36, unique=True)
    body = models.TextField()
    attempts = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(null=True)  # None: delivered, or given up
    delivered_at = models.DateTimeField(null=True)
    error = models.TextField(default="")

    class Meta:
        indexes = [models.Index(fields=["due_at"], name="delivery_due")]

    def __str__(self) -> str:
        return self.message_id


class WorkerMessage(models.Model):
    """A message to a worker from a requester or from the marketplace."""

    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="messages_received")
    requester = models.ForeignKey(Requester, null=True, on_delete=models.CASCADE)
    subject = models.CharField(max_length=200)
    text = models.TextField()
    sent_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["worker", "id"], name="message_by_worker")]

    def __str__(self) -> str:
        return self.subject
