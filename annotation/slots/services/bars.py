"""Which items are not for whom: a person meets a fact or document once, whether to write, to review or to answer blind.

An item, and what follows from its answers at any depth, is a family. Who is given one of it is barred from the others:
nobody reviews what they wrote, answers what they know, or writes again what they rejected.
"""

from uuid import UUID

from annotation.models import Annotation, Assignment, Item, ItemBar
from database.transactions import require_transaction


def family_of(item_id: int) -> list[int]:
    """Return the items of a family, whatever their state, by one of it."""
    root = Item.objects.select_related("follows").get(pk=item_id)
    while root.follows is not None:
        root = Item.objects.select_related("follows").get(pk=root.follows.item_id)
    family, newest = [root.pk], [root.pk]
    while newest:
        newest = list(Item.objects.filter(follows__item__in=newest).order_by("pk").values_list("pk", flat=True))
        family += newest
    return family


def bars_put(*, item: Item, follows: Annotation) -> None:
    """Keep a new item from all who were given one of its family."""
    require_transaction()
    met = Assignment.objects.filter(item__in=family_of(item.pk)).values_list("surrogate_id", flat=True)
    people = {*met, follows.surrogate_id}
    ItemBar.objects.bulk_create(
        [ItemBar(item=item, surrogate_id=surrogate_id) for surrogate_id in sorted(people)], ignore_conflicts=True
    )


def bars_meet(*, item_id: int, surrogate_id: UUID) -> None:
    """Keep the others of a family from a person who is given one of it now."""
    require_transaction()
    others = [pk for pk in family_of(item_id) if pk != item_id]
    ItemBar.objects.bulk_create(
        [ItemBar(item_id=pk, surrogate_id=surrogate_id) for pk in others], ignore_conflicts=True
    )


def bars_join(*, campaign_id: UUID, before: UUID, after: UUID) -> None:
    """Make what is not for one surrogate not for another that is the same annotator.

    What that one did is looked at again: it may follow from what the other did.
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
