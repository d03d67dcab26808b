"""Campaigns, their parts, and people's participation in them."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class CampaignState(models.TextChoices):
    """Whether work is assigned."""

    DRAFT = "draft", _("Draft")
    OPEN = "open", _("Open")
    PAUSED = "paused", _("Paused")
    CLOSED = "closed", _("Closed")


class Campaign(models.Model):
    """One collection effort. Its key is that of its scope, to which roles, consent and audit events refer."""

    scope = models.OneToOneField("accounts.Scope", primary_key=True, on_delete=models.PROTECT, related_name="+")
    slug = models.SlugField(_("short name"), max_length=60, unique=True)
    title = models.CharField(_("title"), max_length=200)
    task_type = models.CharField(_("task type"), max_length=20)
    state = models.CharField(max_length=10, choices=CampaignState, default=CampaignState.DRAFT)
    language = models.CharField(_("language of the documents"), max_length=12, default="en")
    time_zone = models.CharField(_("time zone"), max_length=60, default="UTC")
    seed = models.BigIntegerField(_("seed"), default=0)
    deadline_seconds = models.PositiveIntegerField(_("time limit per item"), default=1800)
    quota = models.PositiveIntegerField(_("maximum items per annotator"), null=True, blank=True)
    group_by = models.CharField(_("how items are assigned to splits"), max_length=10, default="item")
    content_warning = models.CharField(_("content warning"), max_length=300, blank=True)
    has_training = models.BooleanField(_("Training round before the first item"), default=False)
    options = models.JSONField(default=dict)  # what it chose of what its task type leaves open (`Written.options`)
    is_synthetic = models.BooleanField(default=False)  # answered by a simulated crowd: said wherever it shows
    queue_version = models.PositiveBigIntegerField(default=0)  # the last `QueueRewind`
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
    note = models.CharField(max_length=500, blank=True)  # what changed, in its author's words
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
    """A part of the dataset with its own number of annotations per item (1 for train, 5 for dev, 25 for a study)."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="splits")
    name = models.SlugField(max_length=30)
    n = models.PositiveIntegerField()
    weight = models.PositiveIntegerField()  # share of the items, relative to the other splits
    position = models.PositiveIntegerField()
    sealed_at = models.DateTimeField(null=True, blank=True)  # from then on its labels leave only as scores

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "name"], name="split_name"),
            models.CheckConstraint(condition=models.Q(n__gte=1), name="split_n_positive"),
        ]

    def __str__(self) -> str:
        return self.name


class BatchState(models.TextChoices):
    """Whether the items of a batch are assigned."""

    DRAFT = "draft", _("Draft")
    OPEN = "open", _("Open")
    CLOSED = "closed", _("Closed")


class Purpose(models.TextChoices):
    """What the items of a batch are for."""

    WORK = "work", _("Dataset")
    STUDY = "study", _("Study")
    PILOT = "pilot", _("Pilot")
    GOLD = "gold", _("Gold")  # what people are tested with
    REVIEW = "review", _("Review")  # what is asked of others about answers


# Batches whose items enter releases and statistics.
ORDINARY = (Purpose.WORK, Purpose.STUDY)


class Batch(models.Model):
    """Items launched together."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="batches")
    ordinal = models.PositiveIntegerField()
    purpose = models.CharField(max_length=10, choices=Purpose, default=Purpose.WORK)
    opens_at = models.DateTimeField(null=True, blank=True)  # launched by the clock, if it was given
    state = models.CharField(max_length=10, choices=BatchState, default=BatchState.DRAFT)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "ordinal"], name="batch_ordinal")]

    def __str__(self) -> str:
        name = _("batch %(number)s") % {"number": self.ordinal}
        return name if self.purpose == Purpose.WORK else f"{name} ({Purpose(self.purpose).label.lower()})"


class Standing(models.TextChoices):
    """Whether an annotator is given work. Quality control changes it."""

    ACTIVE = "active", _("Active")
    WARNED = "warned", _("Warned")
    PAUSED = "paused", _("Paused")
    SUSPENDED = "suspended", _("Suspended")


class Participation(models.Model):
    """A person's participation in a campaign: standing, guidelines read, and position in the queue of slots.

    ``cursor`` only saves work: slots before this position were assigned to this person or don't suit them. It is valid
    for the queue at ``queue_version``. ``served`` counts the items that were assigned to this person, each
    once; before the item ``planned_to`` is assigned, `annotation.signals.participation_advanced` asks for injections.
    ``submitted`` is the tally for quotas: the person's submissions, except those taken back, late, given up
    or withdrawn; see `annotation.slots.services.counting`. ``trained`` counts the examples of the training round that
    they have done.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="participations")
    surrogate = models.ForeignKey("accounts.Surrogate", on_delete=models.PROTECT, related_name="+")
    standing = models.CharField(max_length=10, choices=Standing, default=Standing.ACTIVE)
    cursor = models.BigIntegerField(default=0)
    queue_version = models.PositiveBigIntegerField(default=0)
    served = models.PositiveIntegerField(default=0)
    planned_to = models.PositiveIntegerField(default=0)
    submitted = models.PositiveIntegerField(default=0)
    trained = models.PositiveIntegerField(default=0)
    trained_at = models.DateTimeField(null=True, blank=True)
    # The version they began with, or said they have read since.
    guideline = models.ForeignKey(
        "annotation.Guideline", null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "surrogate"], name="participation_once")]

    def __str__(self) -> str:
        return f"{self.surrogate_id} in {self.campaign_id}"


class StandingChange(models.Model):
    """A change of an annotator's standing, append-only; deleted only when the annotator withdraws."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="standing_changes")
    surrogate = models.ForeignKey("accounts.Surrogate", on_delete=models.PROTECT, related_name="+")
    before = models.CharField(max_length=10, choices=Standing)
    after = models.CharField(max_length=10, choices=Standing)
    because = models.JSONField(default=dict)
    changed_by = models.ForeignKey("accounts.Surrogate", null=True, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["campaign", "surrogate", "id"], name="standing_change_by_person")]

    def __str__(self) -> str:
        return f"{self.before} to {self.after}"


class Withdrawal(models.Model):
    """An annotator's request to leave. They can take it back until ``due_at``; then their work is unlinked."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="withdrawals")
    surrogate = models.ForeignKey("accounts.Surrogate", on_delete=models.PROTECT, related_name="+")
    asked_at = models.DateTimeField()
    due_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "surrogate"], name="withdrawal_once")]

    def __str__(self) -> str:
        return f"leaves on {self.due_at:%Y-%m-%d}"


class QueueRewind(models.Model):
    """Slots were added to the queue at a position that people may have passed, append-only.

    People's rows aren't changed: the next claim of each person goes back as far as the rewinds since their version say.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="queue_rewinds")
    version = models.PositiveBigIntegerField()
    order_key = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "version"], name="queue_rewind_version")]

    def __str__(self) -> str:
        return f"queue {self.version}"


class CampaignDocument(models.Model):
    """A document as a campaign knows it: by the name it was imported under."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="documents")
    name = models.CharField(max_length=500)
    tokenization = models.ForeignKey("documents.Tokenization", on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "name"], name="campaign_document_name")]

    def __str__(self) -> str:
        return self.name
