"""How the annotators of a release agree, over what is in it and nothing else."""

from typing import Any

from django.db.models import CharField, Q, TextField
from django.db.models.functions import Cast
from django.utils.translation import override

from annotation.models import AnnotationState
from annotation.tasktypes.registry import TASK_TYPES, pages_of
from exports.models import Release
from exports.selectors.within import within
from quality.dashboard.selectors.agreement import agreement_over


def agreement_in(release: Release, *, takes_ways: bool) -> list[dict[str, Any]]:
    """Return for each measure its name, scale, Krippendorff's alpha with its interval, and the items it is over.

    Over the annotations of the first round that counted when the release was frozen, of the items that it holds; where
    it takes so many annotations of an item, over those alone. Votes that were asked for because others differed are no
    fair draw, and those behind a label alone would leave out who was outvoted.
    """
    first_round = Q(annotation__assignment__slot__round=1) | Q(annotation__assignment=None, annotation__slot__round=1)
    votes = release.votes.filter(first_round, state=AnnotationState.COUNTED)
    votes = votes.filter(is_used=True) if takes_ways else votes.filter(~within(release.shortfall.all()))
    rows = votes.annotate(
        who=Cast("annotation__surrogate_id", CharField()), text=Cast("annotation__answer", TextField())
    )
    answers = rows.order_by("item_id", "annotation_id").values_list("item_id", "who", "text").iterator(chunk_size=5000)
    task_type = release.campaign.task_type
    names = pages_of(task_type).measures
    with override("en"):
        return [
            {
                "what": str(names.get(row["key"], row["key"])),
                **{key: row.get(key) for key in ("scale", "alpha", "low", "high", "units")},
            }
            for row in agreement_over(TASK_TYPES[task_type], answers)
        ]
