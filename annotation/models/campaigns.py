"""Campaigns, what belongs to one, and people's place in it."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class CampaignState(models.TextChoices):
    """Whether work is handed out."""

    DRAFT = "draft", _("Draft")
    OPEN = "open", _("Open")
    PAUSED = "paused", _("Paused")
    CLOSED = "closed", _("Closed")


class Campaign(models.Model):
    """One collection effort. Its key is its scope: roles, consent and audit hang on that."""

    scope = models.OneToOneField("accounts.Scope", primary_key=True, on_delete=models.PROTECT, related_name="+")
    slug = models.SlugField(_("short name"), max_length=60, unique=True)
    title = models.CharField(_("title"), max_length=200)
    task_type = models.CharField(_("task type"), max_length=20)
    state = models.CharField(max_length=10, choices=CampaignState, default=CampaignState.DRAFT)
    language = models.CharField(_("language of the documents"), max_length=12, default="en")
    time_zone = models.CharField(_("time zone"), max_length=60, default="UTC")
    seed = models.BigIntegerField(_("seed"), default=0)
    deadline_seconds = models.PositiveIntegerField(_("time for one item"), default=1800)
    quota = models.PositiveIntegerField(_("most items per person"), null=True, blank=True)
    group_by = models.CharField(_("keep together in one split"), max_length=10, default="item")
    content_warning = models.CharField(_("content warning"), max_length=300, blank=True)
    has_training = models.BooleanField(_("training round before the first item"), default=False)
    is_synthetic = models.BooleanField(default=False)  # answered by a simulated crowd: said wherever it shows
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(group_by__in=["item", "question", "document"]), name="campaign_group_by_known"
            )
        ]

    def __str__(self) -> str:
        return self.title


class Guideline(models.Model):
    """One version of the instructions (Markdown). Annotations pin the version they were made under."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="guidelines")
    version = models.PositiveIntegerField()
    body = models.TextField(_("guidelines"))
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "version"], name="guideline_version")]

    def __str__(self) -> str:
        return f"guidelines {self.version}"


class TrainingExample(models.Model):
    """One example of the training round. A table of its own: it is never an item and never gold."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="training_examples")
    position = models.PositiveIntegerField()
    content = models.JSONField()  # as an item's, with ``label`` and ``why``

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "position"], name="training_position")]

    def __str__(self) -> str:
        return f"training example {self.position}"


class Split(models.Model):
    """A part of the dataset with its own number of annotations an item (1 for train, 5 for dev, 25 for a study)."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="splits")
    name = models.SlugField(max_length=30)
    n = models.PositiveIntegerField()
    weight = models.PositiveIntegerField()  # share of the items, relative to the other splits
    position = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "name"], name="split_name"),
            models.CheckConstraint(condition=models.Q(n__gte=1), name="split_n_positive"),
        ]

    def __str__(self) -> str:
        return self.name


class BatchState(models.TextChoices):
    """Whether the items of a batch are handed out."""

    DRAFT = "draft", _("Draft")
    OPEN = "open", _("Open")
    CLOSED = "closed", _("Closed")


class Batch(models.Model):
    """Items launched together. A pilot batch is left out of releases and statistics."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="batches")
    ordinal = models.PositiveIntegerField()
    is_pilot = models.BooleanField(default=False)
    is_gold = models.BooleanField(default=False)  # holds what people are tested with; never launched or released
    opens_at = models.DateTimeField(null=True, blank=True)  # launched by the clock, if it was given
    state = models.CharField(max_length=10, choices=BatchState, default=BatchState.DRAFT)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "ordinal"], name="batch_ordinal")]

    def __str__(self) -> str:
        return f"pilot {self.ordinal}" if self.is_pilot else f"batch {self.ordinal}"


class Standing(models.TextChoices):
    """Whether somebody is given work. Moved by quality control."""

    ACTIVE = "active", _("Active")
    WARNED = "warned", _("Warned")
    PAUSED = "paused", _("Paused")
    SUSPENDED = "suspended", _("Suspended")


class Participation(models.Model):
    """A person's place in a campaign: standing, and how far along the slots they have been served.

    ``cursor`` only ever saves work: slots before it were served to this person or found unfit for
    them. ``submitted`` counts this person's own submissions and is written with each of them.
    ``trained`` counts the examples of the training round behind them. ``pay_held_until``: while a manager
    has to decide about them, their pay waits, but no longer than this.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="participations")
    surrogate = models.ForeignKey("accounts.Surrogate", on_delete=models.PROTECT, related_name="+")
    standing = models.CharField(max_length=10, choices=Standing, default=Standing.ACTIVE)
    cursor = models.BigIntegerField(default=0)
    submitted = models.PositiveIntegerField(default=0)
    trained = models.PositiveIntegerField(default=0)
    trained_at = models.DateTimeField(null=True, blank=True)
    pay_held_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "surrogate"], name="participation_once")]

    def __str__(self) -> str:
        return f"{self.surrogate_id} in {self.campaign_id}"
