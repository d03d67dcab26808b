"""Items and their slots. Each slot is a requested annotation."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class ItemState(models.TextChoices):
    """Whether an item is in use."""

    ACTIVE = "active", _("Active")
    RETIRED = "retired", _("Retired")


class Item(models.Model):
    """One thing to annotate. The task type defines the form of ``content``.

    A foreign key has no index of its own if an index of several columns begins with it: each index slows every insert.
    """

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="items", db_index=False)
    batch = models.ForeignKey("annotation.Batch", on_delete=models.PROTECT, related_name="items", db_index=False)
    split = models.ForeignKey("annotation.Split", on_delete=models.PROTECT, related_name="items", db_index=False)
    tokenization = models.ForeignKey(
        "documents.Tokenization", null=True, on_delete=models.PROTECT, related_name="items"
    )
    external_id = models.CharField(max_length=200)
    published_id = models.CharField(max_length=20)  # decimal text: published ids exceed 64-bit signed integers
    content = models.JSONField()
    content_sha256 = models.CharField(max_length=64)
    state = models.CharField(max_length=10, choices=ItemState, default=ItemState.ACTIVE)
    retired_reason = models.CharField(max_length=300, blank=True)
    # The answer that this item asks someone else about (`annotation.items.services.follow_ups`).
    follows = models.ForeignKey(
        "annotation.Annotation", null=True, on_delete=models.CASCADE, related_name="follow_ups", db_index=False
    )
    origin = models.TextField(blank=True)  # JSON: where its row said that it comes from; never shown to annotators
    n = models.PositiveIntegerField()  # how many annotations are wanted: the split's n, or more after an extension
    votes = models.PositiveIntegerField()  # how many of them make a verdict: slots 0 to votes - 1 of a round
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "external_id"], name="item_external_id"),
            models.UniqueConstraint(fields=["campaign", "published_id"], name="item_published_id"),
            models.UniqueConstraint(fields=["campaign", "content_sha256"], name="item_content_once"),
        ]
        indexes = [
            models.Index(fields=["campaign", "split", "id"], name="item_by_split"),
            models.Index(fields=["batch", "id"], name="item_by_batch"),
            models.Index(fields=["follows"], condition=models.Q(follows__isnull=False), name="item_follows"),
        ]

    def __str__(self) -> str:
        return self.external_id


class ItemBar(models.Model):
    """A bar: this person can't get this item, because of another of its family (`annotation.slots.services.bars`)."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="bars", db_index=False)
    surrogate = models.ForeignKey("accounts.Surrogate", on_delete=models.PROTECT, related_name="+", db_index=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["surrogate", "item"], name="item_bar_once")]
        indexes = [models.Index(fields=["item"], name="item_bar_by_item")]

    def __str__(self) -> str:
        return f"{self.item_id} is not for {self.surrogate_id}"


class SlotState(models.TextChoices):
    """The state of a requested annotation, for example open, held or filled."""

    OPEN = "open", _("Open")
    HELD = "held", _("In progress")
    FILLED = "filled", _("Done")
    CLOSED = "closed", _("Closed")
    ASIDE = "aside", _("Reserved for one annotator")


class Slot(models.Model):
    """One requested annotation of an item in a round. ``index`` is its rank and never changes.

    ``order_key`` is the seeded random position in the queue, older batches, rounds and waves first. ``state`` is
    written by `annotation.slots.services.counting` alone.
    """

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="slots")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="slots", db_index=False)
    round = models.PositiveIntegerField(default=1)
    index = models.PositiveIntegerField()
    order_key = models.BigIntegerField()
    state = models.CharField(max_length=10, choices=SlotState, default=SlotState.OPEN)
    is_reopened = models.BooleanField(default=False)
    is_wanted = models.BooleanField(default=True)  # False once its round was closed: then it is not opened again

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "round", "index"], name="slot_index_once")]
        indexes = [
            models.Index(
                fields=["campaign", "order_key"],
                condition=models.Q(state="open", is_reopened=False),
                name="slot_queue",
            ),
            models.Index(
                fields=["campaign", "order_key"],
                condition=models.Q(state="open", is_reopened=True),
                name="slot_reopened",
            ),
            models.Index(fields=["campaign"], condition=models.Q(state="held"), name="slot_held"),
        ]

    def __str__(self) -> str:
        return f"slot {self.round}.{self.index} of {self.item_id}"


class Injection(models.Model):
    """An additional slot for one person at about one point of their work. Only the code that adds it knows the reason.

    ``position`` is the number of items assigned to the person before it. Submissions don't count: otherwise, people who
    skip the item after each submission would never answer an injection. ``is_replaced``: it passed
    without a counted answer, and another injection replaced it.
    """

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="injections")
    surrogate = models.ForeignKey("accounts.Surrogate", on_delete=models.PROTECT, related_name="+")
    slot = models.OneToOneField(Slot, on_delete=models.CASCADE, related_name="injection")
    position = models.PositiveIntegerField()
    is_replaced = models.BooleanField(default=False)

    class Meta:
        indexes = [models.Index(fields=["campaign", "surrogate", "position"], name="injection_for_person")]

    def __str__(self) -> str:
        return f"injection at {self.position}"
