"""Bars between items and annotators: a person gets a fact or document once, to write, to review or to answer blind.

An item and all its follow-ups, at any depth, form a family. A person who gets one of its items is barred from the
others: nobody reviews their own writing, answers what they know, or writes again what they rejected.
"""

from uuid import UUID

from annotation.models import Annotation, Assignment, Item, ItemBar
from database.transactions import require_transaction


def family_of(item_id: int) -> list[int]:
    """Return all items of an item's family, whatever their state."""
    root = Item.objects.select_related("follows").get(pk=item_id)
    while root.follows is not None:
        root = Item.objects.select_related("follows").get(pk=root.follows.item_id)
    family, newest = [root.pk], [root.pk]
    while newest:
        newest = list(Item.objects.filter(follows__item__in=newest).order_by("pk").values_list("pk", flat=True))
        family += newest
    return family


def bars_put(*, item: Item, follows: Annotation) -> None:
    """Bar everyone who received an item of the family from a new item."""
    require_transaction()
    met = Assignment.objects.filter(item__in=family_of(item.pk)).values_list("surrogate_id", flat=True)
    people = {*met, follows.surrogate_id}
    ItemBar.objects.bulk_create(
        [ItemBar(item=item, surrogate_id=surrogate_id) for surrogate_id in sorted(people)], ignore_conflicts=True
    )


def bars_meet(*, item_id: int, surrogate_id: UUID) -> None:
    """Bar a person who receives an item from the others of its family."""
    require_transaction()
    others = [pk for pk in family_of(item_id) if pk != item_id]
    ItemBar.objects.bulk_create(
        [ItemBar(item_id=pk, surrogate_id=surrogate_id) for pk in others], ignore_conflicts=True
    )


def bars_join(*, campaign_id: UUID, before: UUID, after: UUID) -> None:
    """Move the bars of one surrogate to another surrogate of the same annotator.

    The second one's annotations of follow-ups are examined again: they may be about the annotator's own work.
    """
    require_transaction()
    own = ItemBar.objects.filter(item__campaign_id=campaign_id, surrogate_id=before)
    ItemBar.objects.bulk_create(
        [ItemBar(item_id=item_id, surrogate_id=after) for item_id in own.values_list("item_id", flat=True)],
        ignore_conflicts=True,
    )
    own.delete()
    followed = Annotation.objects.filter(campaign_id=campaign_id, surrogate_id=after, item__follows__isnull=False)
    followed.update(is_examined=False)
