"""What people do: assignments, annotations, click logs, reports."""

import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _


class AssignmentState(models.TextChoices):
    """The state of an assignment, for example live or submitted."""

    RESERVED = "reserved", _("Reserved")  # prefetched: becomes live when it is shown, or lapses
    LIVE = "live", _("In progress")
    SUBMITTED = "submitted", _("Submitted")
    LATE = "late", _("Submitted late")
    EXPIRED = "expired", _("Expired")
    SKIPPED = "skipped", _("Skipped")
    RELEASED = "released", _("Unassigned")  # given back, the item was retired, or the reservation lapsed
    UNDONE = "undone", _("Undone")  # its author answers the item again, in another assignment


# An annotator with an assignment in one of these states is not given the item again.
BLOCKING = (
    AssignmentState.RESERVED,
    AssignmentState.LIVE,
    AssignmentState.SUBMITTED,
    AssignmentState.LATE,
    AssignmentState.SKIPPED,
)


HOLDING = (AssignmentState.LIVE, AssignmentState.RESERVED)  # these hold a slot

# An annotator whose assignment ended like this gets the item again, first of all, as long as its slot is free.
GIVEN_BACK = (AssignmentState.EXPIRED, AssignmentState.RELEASED)
# No two assignments of an item and an annotator are in these states.
ONCE_PER_PERSON = (AssignmentState.RESERVED, AssignmentState.LIVE, AssignmentState.SUBMITTED)


class Assignment(models.Model):
    """One person holding one slot until a deadline. Its id is random: it reveals nothing about item or order."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="assignments")
    item = models.ForeignKey("annotation.Item", on_delete=models.CASCADE, related_name="assignments")
    slot = models.ForeignKey("annotation.Slot", on_delete=models.CASCADE, related_name="assignments")
    surrogate = models.ForeignKey(
        "accounts.Surrogate", on_delete=models.PROTECT, related_name="assignments", db_index=False
    )
    guideline = models.ForeignKey("annotation.Guideline", on_delete=models.PROTECT, related_name="+", db_index=False)
    state = models.CharField(max_length=10, choices=AssignmentState, default=AssignmentState.LIVE)
    claimed_at = models.DateTimeField()
    deadline_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    draft = models.JSONField(default=dict)
    draft_version = models.PositiveIntegerField(default=0)
    skip_reason = models.CharField(max_length=20, blank=True)
    skip_note = models.CharField(max_length=500, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["slot"], condition=models.Q(state__in=["reserved", "live"]), name="slot_held_once"
            ),
            models.UniqueConstraint(
                fields=["item", "surrogate"],
                condition=models.Q(state__in=["reserved", "live", "submitted"]),
                name="item_once_per_person",
            ),
            models.UniqueConstraint(
                fields=["campaign", "surrogate"], condition=models.Q(state="live"), name="one_live_assignment"
            ),
            models.UniqueConstraint(
                fields=["campaign", "surrogate"], condition=models.Q(state="reserved"), name="one_reservation"
            ),
        ]
        indexes = [
            models.Index(
                fields=["deadline_at"], condition=models.Q(state__in=["reserved", "live"]), name="assignment_deadline"
            ),
            models.Index(fields=["surrogate", "item"], name="assignment_seen"),
            models.Index(
                fields=["campaign", "surrogate"],
                condition=models.Q(state__in=["expired", "released"]),
                name="assignment_given_back",
            ),
        ]

    def __str__(self) -> str:
        return f"assignment {self.id}"


INTERNAL = "internal"  # `Annotation.via` of people with an account here; else the kind of their workforce
PUBLISHED = "published"  # what a published file brought: who, when and how is not known


class AnnotationState(models.TextChoices):
    """Whether an annotation counts (enters votes and releases), and if not, why."""

    COUNTED = "counted", _("Counted")
    PROVISIONAL = "provisional", _("Waiting for confirmation")  # holds its slot until it is confirmed or given up
    GIVEN_UP = "given_up", _("Not confirmed in time")
    SURPLUS = "surplus", _("Not needed")  # confirmed after another annotator had filled the slot
    LATE = "late", _("Submitted late")
    UNDONE = "undone", _("Undone")
    EXCLUDED = "excluded", _("Excluded")
    RETIRED = "retired", _("Item was retired")
    WITHDRAWN = "withdrawn", _("Consent withdrawn")


# An annotation in one of these states fills its slot.
FILLING = (AnnotationState.COUNTED, AnnotationState.PROVISIONAL)
# A submission in one of these states is in its author's tally.
TALLIED = (*FILLING, AnnotationState.EXCLUDED, AnnotationState.SURPLUS, AnnotationState.RETIRED)


class Annotation(models.Model):
    """A submitted answer. A trigger refuses any change of the answer but an audited redaction.

    ``state`` is written by `annotation.slots.services.counting` alone, which keeps a row of every change.
    ``via`` is the kind of recruitment that its author came through.
    """

    id = models.BigAutoField(primary_key=True)
    published_id = models.CharField(max_length=20)  # decimal text of an unsigned 64-bit number
    assignment = models.OneToOneField(Assignment, null=True, on_delete=models.PROTECT, related_name="annotation")
    campaign = models.ForeignKey(
        "annotation.Campaign", on_delete=models.CASCADE, related_name="annotations", db_index=False
    )
    item = models.ForeignKey("annotation.Item", on_delete=models.CASCADE, related_name="annotations")
    slot = models.ForeignKey("annotation.Slot", null=True, on_delete=models.PROTECT, related_name="annotations")
    surrogate = models.ForeignKey("accounts.Surrogate", on_delete=models.PROTECT, related_name="annotations")
    guideline = models.ForeignKey(
        "annotation.Guideline", null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    via = models.CharField(max_length=10, default=INTERNAL)
    answer = models.JSONField()
    answer_version = models.PositiveIntegerField()
    text_key = models.CharField(max_length=64, null=True, blank=True)  # of a text that was written (`Written.text_key`)
    state = models.CharField(max_length=12, choices=AnnotationState)
    submitted_at = models.DateTimeField()
    seconds = models.FloatField()
    active_seconds = models.FloatField(null=True, blank=True)
    stage_seconds = models.JSONField(default=dict)
    redacted_at = models.DateTimeField(null=True, blank=True)
    is_examined = models.BooleanField(default=False)  # whether quality control has seen it as it stands now

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "published_id"], name="annotation_published_id"),
            models.UniqueConstraint(
                fields=["slot"], condition=models.Q(state__in=["counted", "provisional"]), name="slot_filled_once"
            ),
            models.UniqueConstraint(
                fields=["item", "surrogate"],
                condition=models.Q(state__in=["counted", "provisional"]),
                name="person_counted_once",
            ),
            models.CheckConstraint(
                condition=~models.Q(state__in=["counted", "provisional"]) | models.Q(slot__isnull=False),
                name="filling_has_slot",
            ),
        ]
        indexes = [
            models.Index(fields=["campaign", "id"], name="annotation_by_campaign"),
            models.Index(fields=["campaign", "surrogate", "id"], name="annotation_by_person"),
            models.Index(
                fields=["campaign", "id"],
                condition=models.Q(is_examined=False) & ~models.Q(state="provisional"),
                name="annotation_to_examine",
            ),
            models.Index(
                fields=["campaign", "text_key"], condition=models.Q(text_key__isnull=False), name="annotation_by_text"
            ),
        ]

    def __str__(self) -> str:
        return f"annotation {self.published_id}"


class CountedChange(models.Model):
    """A change of an annotation's state, append-only: any past state can be computed from these rows.

    The state at submission is the ``before`` of the first change, or the current state if there are no changes.
    """

    annotation = models.ForeignKey(Annotation, on_delete=models.CASCADE, related_name="changes")
    before = models.CharField(max_length=12, choices=AnnotationState)
    after = models.CharField(max_length=12, choices=AnnotationState)
    because = models.CharField(max_length=300, blank=True)
    changed_by = models.ForeignKey("accounts.Surrogate", null=True, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.before} to {self.after}"


class EventChunk(models.Model):
    """A compressed piece of an assignment's click log. Sending a piece again changes nothing."""

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="event_chunks")
    sequence = models.PositiveIntegerField()
    events = models.BinaryField()
    received_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["assignment", "sequence"], name="event_chunk_once")]

    def __str__(self) -> str:
        return f"chunk {self.sequence} of {self.assignment_id}"


class EventTally(models.Model):
    """Counts that are kept when an assignment's click log is deleted: forged input, pasted text, leaving the page."""

    assignment = models.OneToOneField(Assignment, on_delete=models.CASCADE, related_name="event_tally")
    untrusted = models.PositiveIntegerField(default=0)
    pastes = models.PositiveIntegerField(default=0)
    pasted = models.PositiveIntegerField(default=0)  # characters
    left = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"tally of {self.assignment_id}"


class ItemReport(models.Model):
    """An annotator asks something about an item, or says that it is broken; a manager may answer.

    ``resolved_at`` is the time when it was answered, closed without an answer, or the item was retired.
    """

    item = models.ForeignKey("annotation.Item", on_delete=models.CASCADE, related_name="reports")
    surrogate = models.ForeignKey("accounts.Surrogate", on_delete=models.PROTECT, related_name="+")
    text = models.CharField(max_length=1000)
    created_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True, blank=True)
    answer = models.TextField(blank=True)
    answered_by = models.ForeignKey("accounts.Surrogate", null=True, on_delete=models.PROTECT, related_name="+")
    read_at = models.DateTimeField(null=True, blank=True)  # by who asked

    class Meta:
        indexes = [models.Index(fields=["item"], condition=models.Q(resolved_at=None), name="report_open")]

    def __str__(self) -> str:
        return f"report on {self.item_id}"


class FaqEntry(models.Model):
    """A question and its answer that every annotator of a campaign reads beside the guidelines.

    ``item`` is the item that the question was about; questions about known answers are never published.
    """

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="faq")
    item = models.ForeignKey("annotation.Item", null=True, on_delete=models.SET_NULL, related_name="faq")
    question = models.CharField(max_length=1000)
    answer = models.TextField()
    published_at = models.DateTimeField()
    retired_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"FAQ {self.pk} of {self.campaign_id}"


class Snapshot(models.Model):
    """The numbers of a campaign at a moment, computed by a job so that no page counts rows."""

    campaign = models.OneToOneField("annotation.Campaign", primary_key=True, on_delete=models.CASCADE)
    taken_at = models.DateTimeField()
    version = models.CharField(max_length=200, default="")  # what they were computed from
    data = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"numbers of {self.campaign_id}"
