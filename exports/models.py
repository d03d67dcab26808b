"""Releases and their frozen content."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from jobs.models import JobState


class ReleaseState(models.TextChoices):
    """Whether a release is written."""

    WRITING = "writing", _("Being created")
    READY = "ready", _("Ready")
    FAILED = "failed", _("Failed")


class Release(models.Model):
    """An exported version of a dataset. Its members are frozen when it is made and never change."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.PROTECT, related_name="releases")
    number = models.PositiveIntegerField()
    family = models.CharField(max_length=30)
    ways = models.PositiveIntegerField()
    splits = models.JSONField()
    seed = models.BigIntegerField(null=True)  # none: the order of the import
    shards = models.PositiveIntegerField(default=1)
    state = models.CharField(max_length=10, choices=ReleaseState, default=ReleaseState.WRITING)
    problem = models.CharField(max_length=500, blank=True, default="", db_default="")  # why it could not be written
    job = models.ForeignKey("jobs.Job", null=True, on_delete=models.SET_NULL, related_name="+")
    manifest = models.JSONField(default=dict)
    frozen = models.JSONField(default=dict)  # what else was decided when it was frozen
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "number"], name="release_number")]

    def __str__(self) -> str:
        return f"release {self.number} of {self.campaign_id}"

    @property
    def has_tables(self) -> bool:
        """Return whether the release froze its annotations in every state; older releases, without tables, didn't."""
        return bool(self.frozen.get("has_tables"))

    @property
    def labels_only(self) -> bool:
        """Return whether the release leaves out the labeled texts."""
        return bool(self.frozen.get("labels_only"))

    @property
    def sealed(self) -> list[str]:
        """Return the splits that were sealed when the release was frozen: their items have no labels in it."""
        return list(self.frozen.get("sealed", []))

    @property
    def rare_below(self) -> int:
        """Return the number of judgments from which a person has a single pseudonym in the release."""
        return int(self.frozen.get("rare_below", 0))

    @property
    def is_empty(self) -> bool:
        """Return whether the release is written and contains no items."""
        return self.state == ReleaseState.READY and not any(self.manifest.get("splits", {}).values())

    @property
    def is_failed(self) -> bool:
        """Return whether writing the release failed, including workers killed repeatedly without reporting it."""
        is_given_up = self.job is not None and self.job.state == JobState.FAILED
        return self.state == ReleaseState.FAILED or (self.state == ReleaseState.WRITING and is_given_up)

    @property
    def folder(self) -> str:
        """The folder of the release's files in storage."""
        return f"{self.campaign_id}/{self.number:04d}"


class ReleaseMember(models.Model):
    """An annotation in a release, with its rank."""

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="members")
    item = models.ForeignKey("annotation.Item", on_delete=models.PROTECT, related_name="+")
    annotation = models.ForeignKey("annotation.Annotation", on_delete=models.PROTECT, related_name="+")
    rank = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "item", "rank"], name="release_member_once")]

    def __str__(self) -> str:
        return f"member {self.rank} of item {self.item_id}"


class ReleaseVerdict(models.Model):
    """The label of an item in a release, with the verdict behind it."""

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="verdicts")
    item = models.ForeignKey("annotation.Item", on_delete=models.PROTECT, related_name="+")
    verdict = models.ForeignKey("quality.Verdict", on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "item"], name="release_verdict_once")]

    def __str__(self) -> str:
        return f"verdict of item {self.item_id}"


class ReleaseVote(models.Model):
    """An annotation of an item that a release covers, in its state when the release was frozen.

    ``because`` gives the reason for its exclusion; ``is_used`` says whether a record or label of the release uses it.
    """

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="votes")
    item = models.ForeignKey("annotation.Item", on_delete=models.PROTECT, related_name="+")  # the annotation's
    annotation = models.ForeignKey("annotation.Annotation", on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=12)
    because = models.CharField(max_length=300, blank=True)
    is_used = models.BooleanField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "item", "annotation"], name="release_vote_once")]

    def __str__(self) -> str:
        return f"{self.state} annotation {self.annotation_id}"


class Shortfall(models.Model):
    """An item that is not in a release because it had fewer annotations than the release requires."""

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="shortfall")
    item = models.ForeignKey("annotation.Item", on_delete=models.PROTECT, related_name="+")
    counted = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "item"], name="shortfall_once")]

    def __str__(self) -> str:
        return f"item {self.item_id}: {self.counted}"


class PublicationState(models.TextChoices):
    """How far a publication is."""

    PUBLISHING = "publishing", _("Being published")
    DONE = "done", _("Published")
    FAILED = "failed", _("Failed")


class Publication(models.Model):
    """A release on a hub (`exports.publishing`): what was asked for, and where it is."""

    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="publications")
    hub = models.CharField(max_length=20)  # a key of `exports.publishing.registry.HUBS`
    address = models.CharField(max_length=200, blank=True)  # the chosen name there
    is_public = models.BooleanField()
    options = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=PublicationState, default=PublicationState.PUBLISHING)
    problem = models.CharField(max_length=500, blank=True)
    url = models.CharField(max_length=500, blank=True)
    version = models.CharField(max_length=50, blank=True)
    doi = models.CharField(max_length=100, blank=True)
    remote = models.JSONField(default=dict)  # what the hub's steps keep, to go on after an interruption
    job = models.ForeignKey("jobs.Job", null=True, on_delete=models.SET_NULL, related_name="+")
    requested_at = models.DateTimeField()
    done_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "hub"], name="publication_once")]

    def __str__(self) -> str:
        return f"release {self.release_id} at {self.hub}"

    @property
    def is_failed(self) -> bool:
        """Return whether publishing failed, including a job that was given up or stopped."""
        is_given_up = self.job is None or self.job.state == JobState.FAILED
        return self.state == PublicationState.FAILED or (self.state == PublicationState.PUBLISHING and is_given_up)

    @property
    def reason(self) -> str:
        """Why it failed."""
        return self.problem or (self.job.error if self.job is not None else "")
