"""Agreement between the annotators of a release, computed only from its content."""

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
    """Return each measure's name, scale, Krippendorff's alpha with its interval, and number of items.

    Uses the annotations of the release's items that were counted in the first round when the release was frozen. If the
    release takes a fixed number of annotations per item, only those are used. Votes of later rounds were requested
    because earlier ones differed, so they aren't a random sample. The votes behind a label alone would leave out the
    outvoted annotators.
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
