"""Tokens, the answers to requests that may be repeated, and webhooks with what is to be sent to them."""

import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _


class TokenScope(models.TextChoices):
    """The scopes of tokens. A token never allows more than its owner's roles."""

    READ = "read", _("Read")
    IMPORT = "import", _("Import pages and items")
    MANAGE = "manage", _("Manage campaigns")
    RELEASE = "release", _("Create and download releases")
    JUDGE = "judge", _("Judge cases as an expert")


class ApiToken(models.Model):
    """A secret by which a program acts for a person. Only its hash is stored."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(_("name"), max_length=100)
    sha256 = models.CharField(max_length=64, unique=True)
    ending = models.CharField(max_length=4)  # of the secret, so that its owner recognizes it
    scopes = models.JSONField()
    # If set, the token works in this campaign only.
    campaign = models.ForeignKey("annotation.Campaign", null=True, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)  # to the minute
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.name} (…{self.ending})"


class KeptAnswer(models.Model):
    """The answer to a request with an ``Idempotency-Key``, saved in the transaction of its effect."""

    token = models.ForeignKey(ApiToken, on_delete=models.CASCADE, related_name="kept_answers")
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64)  # SHA-256 of method, address and body
    status = models.PositiveSmallIntegerField(default=0)
    headers = models.JSONField(default=dict)
    body = models.BinaryField(default=bytes)
    created_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["token", "key"], name="kept_answer_once")]

    def __str__(self) -> str:
        return f"answer to {self.key}"


class WebhookForm(models.TextChoices):
    """The formats of messages to webhooks."""

    STANDARD = "standard", _("Signed message (Standard Webhooks)")
    CHAT = "chat", _("Text for a chat channel")
    MAIL = "mail", _("Email")


class Webhook(models.Model):
    """An address that gets a campaign's events.

    Its secret follows from the installation's and from ``generation``, so it is stored nowhere.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="+")
    url = models.CharField(_("address"), max_length=2000)  # of a mail: the email address
    form = models.CharField(_("format"), max_length=10, choices=WebhookForm, default=WebhookForm.STANDARD)
    kinds = models.JSONField(default=list)  # of events
    generation = models.PositiveIntegerField(default=1)
    rotated_at = models.DateTimeField(null=True)  # for a day, messages are also signed with the secret before
    created_by = models.ForeignKey("accounts.Surrogate", null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    disabled_at = models.DateTimeField(null=True)
    problem = models.CharField(max_length=500, blank=True)  # of the last attempt that failed

    def __str__(self) -> str:
        return self.url


class WebhookDelivery(models.Model):
    """An event on its way to a webhook. ``id`` stays the same over all attempts; ``due_at`` is null when it ended."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    event = models.ForeignKey("jobs.Event", on_delete=models.CASCADE, related_name="+")
    attempts = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(null=True)
    delivered_at = models.DateTimeField(null=True)
    problem = models.CharField(max_length=500, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["webhook", "event"], name="webhook_delivery_once")]
        indexes = [
            models.Index(fields=["due_at"], condition=models.Q(due_at__isnull=False), name="webhook_delivery_due")
        ]

    def __str__(self) -> str:
        return f"{self.event_id} to {self.webhook_id}"
