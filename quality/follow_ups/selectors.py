"""Results of follow-ups on answers: reviews and blind answers, as shares with their intervals."""

from collections import Counter
from typing import Any

import numpy as np

from annotation.campaigns.selectors.sealing import unsealed
from annotation.models import Annotation, AnnotationState, Campaign, ItemState
from annotation.tasktypes.base import FollowedUp
from annotation.tasktypes.registry import TASK_TYPES, pages_of
from measures.reliability import wilson


def follow_ups_of(campaign: Campaign) -> list[dict[str, Any]]:
    """Return the number of each outcome, with its share of all follow-ups of that kind and Wilson's 95% interval.

    The cost grows with the campaign: use it in jobs, not in pages. Sealed splits are left out.
    """
    task_type = TASK_TYPES[campaign.task_type]
    if not isinstance(task_type, FollowedUp):
        return []
    rows = Annotation.objects.filter(
        unsealed(),
        campaign=campaign,
        state=AnnotationState.COUNTED,
        item__follows__isnull=False,
        item__state=ItemState.ACTIVE,
    )
    found = Counter(
        task_type.outcome(content, answer)
        for content, answer in rows.values_list("item__content", "answer").iterator(chunk_size=2000)
    )
    return [_row(one, found) for one in pages_of(campaign.task_type).outcome_names]


def _row(outcome: tuple[str, str], found: Counter[tuple[str, str]]) -> dict[str, Any]:
    count, of = found[outcome], sum(n for (asked, _), n in found.items() if asked == outcome[0])
    low, high = wilson(np.array([count / of if of else np.nan]), np.array([of]))
    shares = {"share": count / of, "low": float(low[0]), "high": float(high[0])} if of else {}
    return {"asks": outcome[0], "outcome": outcome[1], "count": count, "of": of, **shares}
