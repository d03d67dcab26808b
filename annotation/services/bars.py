"""Which items are not for whom: nobody reviews what they wrote, or answers what they know from it."""

from uuid import UUID

from django.db.models import Q

from accounts.transactions import require_transaction
from annotation.models import Annotation, Assignment, Item, ItemBar


def bars_put(*, item: Item, follows: Annotation) -> None:
    """Keep an item from all who were given what it asks about, and what that follows in turn."""
    require_transaction()
    people = set(Assignment.objects.filter(item__in=items_met(follows)).values_list("surrogate_id", flat=True))
    people.add(follows.surrogate_id)
    ItemBar.objects.bulk_create(
        [ItemBar(item=item, surrogate_id=surrogate_id) for surrogate_id in sorted(people)], ignore_conflicts=True
    )


def items_met(follows: Annotation) -> list[int]:
    """Return the items that tell what an item is about that follows an annotation: the annotation's, and those before it."""
    met: list[int] = []
    before: Annotation | None = follows
    while before is not None:
        met.append(before.item_id)
        before = Item.objects.select_related("follows").get(pk=before.item_id).follows
    return met


def bars_meet(*, item_id: int, surrogate_id: UUID) -> None:
    """Keep what follows from answers to an item from a person who is given the item now."""
    require_transaction()
    after = Item.objects.filter(Q(follows__item=item_id) | Q(follows__item__follows__item=item_id))
    ItemBar.objects.bulk_create(
        [ItemBar(item_id=pk, surrogate_id=surrogate_id) for pk in after.values_list("pk", flat=True)],
        ignore_conflicts=True,
    )


def bars_join(*, campaign_id: UUID, before: UUID, after: UUID) -> None:
    """Make what is not for one surrogate not for another that is the same annotator."""
    require_transaction()
    own = ItemBar.objects.filter(item__campaign_id=campaign_id, surrogate_id=before)
    ItemBar.objects.bulk_create(
        [ItemBar(item_id=item_id, surrogate_id=after) for item_id in own.values_list("item_id", flat=True)],
        ignore_conflicts=True,
    )
    own.delete()
