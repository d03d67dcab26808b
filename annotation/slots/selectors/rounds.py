"""The progress of a batch's rounds, from index lookups of unfinished slots."""

from annotation.models import Batch, Slot, SlotState
from annotation.slots.ordering import order_range


def slots_waiting(batch: Batch, round_: int, *, most: int = 1) -> int:
    """Return how many slots of a batch's round are open or held; counting stops at ``most``."""
    first, after = order_range(batch=batch.ordinal, round_=round_)
    within = Slot.objects.filter(campaign=batch.campaign_id, order_key__gte=first, order_key__lt=after)
    found = 0
    for is_reopened in (False, True):  # an index of its own each
        rows = within.filter(state=SlotState.OPEN, is_reopened=is_reopened).values_list("pk")
        found += len(rows[: most - found])
    return found + len(within.filter(state=SlotState.HELD).values_list("pk")[: most - found])
