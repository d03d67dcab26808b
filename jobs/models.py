"""Background jobs; their rows are the only source of truth."""

import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _

from web.acting import acting_token
from web.error_texts import keyed_text
from web.job_titles import TITLES, outcome_of
from web.request_log import current_request_id


class JobState(models.TextChoices):
    """The state of a job."""

    QUEUED = "queued", _("Waiting")
    RUNNING = "running", _("Running")
    DONE = "done", _("Done")
    FAILED = "failed", _("Failed")


class Job(models.Model):
    """A background job. Only the worker that holds its lease runs it; all effects name the worker's attempt."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=60)
    lane = models.CharField(max_length=20)
    payload = models.JSONField(default=dict)
    scope = models.ForeignKey("accounts.Scope", null=True, on_delete=models.CASCADE, related_name="jobs")
    requested_by = models.ForeignKey("accounts.Surrogate", null=True, on_delete=models.PROTECT, related_name="+")
    # At most one unfinished job has a given key: asking twice gives the same job.
    key = models.CharField(max_length=200, blank=True)
    state = models.CharField(max_length=10, choices=JobState, default=JobState.QUEUED)
    attempt = models.PositiveIntegerField(default=0)
    stalled = models.PositiveIntegerField(default=0)  # attempts since the last progress
    due_at = models.DateTimeField()
    lease_until = models.DateTimeField(null=True, blank=True)
    announced_at = models.DateTimeField(null=True, blank=True)  # when a broker was last told
    announcements = models.PositiveIntegerField(default=0)
    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(null=True, blank=True)
    message = models.CharField(max_length=300, blank=True)
    result = models.JSONField(default=dict)
    error = models.TextField(blank=True)
    request_id = models.CharField(max_length=64, blank=True, default=current_request_id, db_default="")
    token = models.CharField(max_length=36, blank=True, default=acting_token, db_default="")  # the API token behind it
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)  # the last attempt
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["key"],
                condition=models.Q(state__in=["queued", "running"]) & ~models.Q(key=""),
                name="job_key_once_unfinished",
            )
        ]
        indexes = [
            models.Index(
                fields=["lane", "due_at", "id"],
                condition=models.Q(state__in=["queued", "running"]),
                name="job_unfinished",
            ),
            models.Index(
                fields=["state", "finished_at"], condition=models.Q(state__in=["done", "failed"]), name="job_finished"
            ),
            models.Index(fields=["key"], condition=models.Q(state="failed") & ~models.Q(key=""), name="job_failed_key"),
            models.Index(fields=["scope", "created_at"], name="job_by_scope"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} ({self.state})"

    @property
    def percent(self) -> int | None:
        """The progress from 0 to 100, if the total is known."""
        return min(100, self.done * 100 // self.total) if self.total else None

    @property
    def title(self) -> str:
        """The job's title for people: its file name, or its kind of work."""
        return str(self.payload.get("name") or TITLES.get(self.kind) or self.kind.rpartition(".")[2])

    @property
    def outcome(self) -> str:
        """A text about the job's result, if the result counts something."""
        return outcome_of(self.result) if self.state == JobState.DONE else ""

    @property
    def problem(self) -> str:
        """The reason why the job failed or waits, translated for the reader if the error was saved with a key."""
        kept = self.result.get("problem") if self.state == JobState.FAILED else None
        return keyed_text(kept["key"], kept["data"]) if kept else self.error

    @property
    def is_finished(self) -> bool:
        """Whether the job has ended."""
        return self.state in (JobState.DONE, JobState.FAILED)


class Heartbeat(models.Model):
    """The time at which a periodic task last ran."""

    name = models.CharField(max_length=40, primary_key=True)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name} at {self.at:%Y-%m-%d %H:%M:%S}"


class Event(models.Model):
    """Something that programs outside want to know, written with the change that it reports (`jobs.events`).

    ``number`` is its place in the feed, given after the transaction: numbers never appear out of order.
    """

    scope = models.ForeignKey("accounts.Scope", on_delete=models.CASCADE, related_name="events", db_index=False)
    number = models.BigIntegerField(null=True, unique=True)
    kind = models.CharField(max_length=40)
    key = models.CharField(max_length=100, blank=True)  # of what happens once
    data = models.JSONField(default=dict)
    at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["scope", "key"], condition=~models.Q(key=""), name="event_once")]
        indexes = [
            models.Index(fields=["id"], condition=models.Q(number=None), name="event_without_number"),
            models.Index(fields=["scope", "number"], name="event_by_scope"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} ({self.number})"
