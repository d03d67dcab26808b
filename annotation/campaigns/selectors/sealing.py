"""Sealed splits, whose labels nobody may see any more: only scores against them are shown."""

from django.db.models import Q

from annotation.models import Campaign, Item

LEAST_ITEMS = 10  # of fewer items, what numbers said before and say after would tell labels


def unsealed(path: str = "item") -> Q:
    """Return the condition that an item's split is not sealed; ``path`` leads from the rows to the item.

    Numbers and pages that depend on answers must use it; `tests/guards/test_sealing.py` finds those that don't.
    """
    return Q(**{f"{path}__split__sealed_at": None})


def sealed_names(campaign: Campaign) -> list[str]:
    """Return the names of a campaign's sealed splits."""
    return list(campaign.splits.exclude(sealed_at=None).order_by("position").values_list("name", flat=True))


def is_sealed(item: Item) -> bool:
    """Return whether an item's split is sealed."""
    return item.split.sealed_at is not None
