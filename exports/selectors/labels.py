"""Items and their labels as a release froze them, whatever their task type."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import OuterRef, Subquery

from annotation.tasktypes.registry import TASK_TYPES
from exports.models import Release, ReleaseVerdict
from exports.selectors.members import in_order
from quality.labels.selectors.audits import in_force_at
from quality.models import Verdict

CHUNK = 200


def labels_beyond(release: Release, at: datetime) -> dict[str, int]:
    """Return the number of a release's labels, and of those that differed or didn't exist at a moment."""
    verdicts = Verdict.objects.filter(pk__in=ReleaseVerdict.objects.filter(release=release).values("verdict"))
    then = in_force_at(at).filter(item=OuterRef("item")).values("label")[:1]
    later = verdicts.filter(decided_at__gt=at).annotate(then=Subquery(then)).values_list("label", "then")
    return {"released": verdicts.count(), "beyond": sum(label != before for label, before in later)}


def _verdicts(release: Release, split: str) -> Iterator[Verdict]:
    """Yield verdicts in the order that the release writes them, a few in memory at a time."""
    rows = ReleaseVerdict.objects.filter(release=release, item__split__name=split)
    order = in_order(release, rows.values_list("verdict_id", "item_id", "item__published_id"))
    for start in range(0, len(order), CHUNK):
        chunk = order[start : start + CHUNK]
        by_key = Verdict.objects.select_related("item", "policy").in_bulk(chunk)
        yield from (by_key[pk] for pk in chunk)


def labelled_items(release: Release, split: str) -> Iterator[dict[str, Any]]:
    """Yield one dict per item: ids, content, label and its rule. If the release has labels only, texts are left out."""
    left_out = {one.column.name for one in TASK_TYPES[release.campaign.task_type].item_columns if one.is_source}
    left_out = left_out if release.labels_only else set()
    for verdict in _verdicts(release, split):
        yield {
            "id": verdict.item.external_id,
            "item_id": verdict.item.published_id,
            **{name: value for name, value in verdict.item.content.items() if name not in left_out},
            "label": verdict.label,
            "rule": verdict.rule,
            "policy_version": verdict.policy.version,
        }
