"""Email notifications: rows are written in the transaction of the change, and a job sends them.

An email may be sent twice if a worker dies between sending it and recording that, but none is lost.
"""

import smtplib
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.core.mail import EmailMessage, get_connection
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import Role, User
from annotation.models import Campaign, MutedNotification, Notification, NotificationKind
from annotation.notifications.texts import mail_of
from database.transactions import durable, require_transaction
from jobs.models import Job, JobState
from jobs.services import job_enqueue, job_failed_lately
from jobs.work import RetryLater, Work

JOB, KEY = "annotation.notifications", "notifications"
DAILY = timedelta(hours=24)  # between two emails of a kind that sums up
KEPT_DAYS = 30
CHUNK = 500


def members(campaign: Campaign, *roles: Role) -> QuerySet[User]:
    """Return the people who have one of some roles in a campaign."""
    return User.objects.filter(memberships__scope_id=campaign.pk, memberships__role__in=roles)


def notify(
    *,
    campaign: Campaign,
    kind: NotificationKind,
    users: QuerySet[User],
    now: datetime,
    actor_id: UUID | None = None,
    **data: Any,
) -> int:
    """Write emails to people who enabled this kind, in the transaction of the reported change; return how many.

    The person who made the change gets none.
    """
    require_transaction()
    wanted = users.filter(is_active=True).exclude(muted_notifications__kind=kind)
    if actor_id is not None:
        wanted = wanted.exclude(surrogate_id=actor_id)
    rows = [
        Notification(campaign=campaign, user_id=user_id, kind=kind, data=data, created_at=now)
        for user_id in wanted.order_by("pk").values_list("pk", flat=True).distinct()
    ]
    Notification.objects.bulk_create(rows, batch_size=CHUNK)
    if rows:
        job_enqueue(kind=JOB, payload={}, now=now, key=KEY)
    return len(rows)


def notify_daily(
    *, campaign: Campaign, kind: NotificationKind, users: QuerySet[User], now: datetime, **data: Any
) -> int:
    """Write summary emails, at most one per person and day."""
    return notify(campaign=campaign, kind=kind, users=_not_told(campaign, kind, users, now), now=now, **data)


def _not_told(campaign: Campaign, kind: NotificationKind, users: QuerySet[User], now: datetime) -> QuerySet[User]:
    told = Notification.objects.filter(campaign=campaign, kind=kind, created_at__gt=now - DAILY)
    return users.exclude(pk__in=told.values("user"))


def role_change_tell(*, user: User, scope_id: UUID, role: str, given: bool, now: datetime, **_signal: Any) -> None:
    """Tell a person that they have a role, or no longer have it."""
    campaign = Campaign.objects.get(pk=scope_id)
    users = User.objects.filter(pk=user.pk)
    notify(campaign=campaign, kind=NotificationKind.ROLE, users=users, now=now, role=role, given=given)


def notifications_send(*, work: Work) -> dict[str, Any]:
    """Send what is not sent yet, oldest first.

    Raises
    ------
    RetryLater
        The mail server can't be reached, or refuses mail for the moment.
    """
    sent = int(work.job.result.get("sent", 0))
    unsent = Notification.objects.filter(sent_at=None).select_related("campaign", "user").order_by("pk")
    with get_connection() as connection:
        while (row := unsent.first()) is not None:
            mail = mail_of(row)
            try:
                EmailMessage(mail.subject, mail.body, None, [row.user.email], connection=connection).send()
            except smtplib.SMTPRecipientsRefused:  # this address takes no mail, now or later
                pass
            except (OSError, smtplib.SMTPException) as error:
                raise RetryLater(f"The mail server cannot be reached: {type(error).__name__}") from error
            sent += 1
            with work.step(done=sent, sent=sent):
                Notification.objects.filter(pk=row.pk).update(sent_at=timezone.now())
    return {"sent": sent}


def notifications_due(now: datetime) -> None:
    """Request a job for emails that weren't sent yet, and delete emails that were sent a month ago."""
    if Notification.objects.filter(sent_at=None).exists() and not job_failed_lately(key=KEY, now=now):
        job_enqueue(kind=JOB, payload={}, now=now, key=KEY)
    Notification.objects.filter(sent_at__lt=now - timedelta(days=KEPT_DAYS)).delete()


def failed_jobs_tell(now: datetime) -> None:
    """Notify managers about failed jobs in their campaign, with at most one email per campaign and day."""
    told = Notification.objects.filter(kind=NotificationKind.JOB, created_at__gt=now - DAILY)
    recent = Job.objects.filter(state=JobState.FAILED, finished_at__gt=now - DAILY)
    asked = recent.exclude(scope=None).exclude(requested_by=None).exclude(scope_id__in=told.values("campaign"))
    newest = {job.scope_id: job for job in asked.order_by("finished_at")[:CHUNK]}
    for campaign in Campaign.objects.filter(pk__in=newest):
        with transaction.atomic():
            users = members(campaign, Role.MANAGER)
            job = newest[campaign.pk].title[:100]
            notify(campaign=campaign, kind=NotificationKind.JOB, users=users, now=now, job=job)


@durable
def kinds_choose(*, user: User, wanted: Collection[str]) -> None:
    """Turn kinds of email on or off for a person."""
    off = [kind for kind in NotificationKind if kind not in wanted]
    MutedNotification.objects.filter(user=user).exclude(kind__in=off).delete()
    MutedNotification.objects.bulk_create(
        [MutedNotification(user=user, kind=kind) for kind in off], ignore_conflicts=True
    )
