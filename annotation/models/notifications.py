"""Emails to people about a campaign, and the kinds that a person turned off."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class NotificationKind(models.TextChoices):
    """What an email is about; each kind can be turned off."""

    ROLE = "role", _("Your roles change")
    CAMPAIGN = "campaign", _("A campaign starts, pauses, resumes, or closes")
    STANDING = "standing", _("You're warned, paused, or suspended, or your appeal is decided")
    CASES = "cases", _("You have cases to judge as an expert")
    DISCUSSION = "discussion", _("Experts disagree about one of your cases")
    REVIEW = "review", _("A review queue has decisions for you to make")
    GOLD = "gold", _("Gold questions are running low")
    JOB = "job", _("A job fails")


class Notification(models.Model):
    """An email to one person: written with the change that it reports, sent by a job, deleted a month later."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="+", db_index=False)
    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=12, choices=NotificationKind)
    data = models.JSONField(default=dict)  # what the text names
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["id"], condition=models.Q(sent_at=None), name="notification_unsent"),
            models.Index(fields=["user", "campaign", "kind", "created_at"], name="notification_last"),
            models.Index(fields=["campaign", "kind", "created_at"], name="notification_by_campaign"),
            models.Index(fields=["sent_at"], condition=~models.Q(sent_at=None), name="notification_sent"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} to {self.user_id}"


class MutedNotification(models.Model):
    """A kind of email that a person turned off."""

    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="muted_notifications")
    kind = models.CharField(max_length=12, choices=NotificationKind)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "kind"], name="muted_notification_once")]

    def __str__(self) -> str:
        return f"{self.kind} off"
