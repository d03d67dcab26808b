"""The data of a campaign's overview page, read from the numbers that a job computed."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef

from accounts.models import User
from annotation.campaigns.snapshot import PersonNumbers, SplitNumbers
from annotation.models import Batch, BatchState, Campaign, CampaignState, Item, ItemReport, Purpose, Snapshot
from annotation.slots.selectors.met_by_all import LOOKED_AT
from annotation.tasktypes.registry import pages_of

_BAR_LEFT, _BAR_HEIGHT, _BAR_UNIT = 150, 35, 2.2  # of the chart's 480 units across; one percent is so wide


def overview_of(campaign: Campaign, *, named: bool) -> dict[str, Any]:
    """Return the numbers of the last snapshot, ready to show; names only for managers."""
    snapshot = Snapshot.objects.filter(campaign=campaign).first()
    data: dict[str, Any] = snapshot.data if snapshot else {}
    slots = data.get("slots", {})
    wanted = sum(count for state, count in slots.items() if state != "closed")
    total = data.get("annotations", 0)
    pages = pages_of(campaign.task_type)
    seconds = data.get("stage_median_seconds", {})
    batches = _to_launch(campaign)
    return {
        "snapshot": snapshot,
        "slots": {state: slots.get(state, 0) for state in ("open", "held", "filled")},
        "met_by_all": data.get("met_by_all", 0),
        "met_by_all_is_cut": data.get("met_by_all", 0) >= LOOKED_AT,
        "pilot": data.get("pilot") or {},
        "wanted": wanted,
        "percent": round(100 * slots.get("filled", 0) / wanted) if wanted else 0,
        "annotations": total,
        "paths": _bars(pages.paths, data.get("paths", {}), total),
        "paths_note": pages.paths_note,
        "stage_seconds": [(name, seconds[stage]) for stage, name in pages.stage_names.items() if stage in seconds],
        "splits": data.get("splits", []),
        "days": data.get("days", []),
        "people": _people(data.get("people", []), named=named),
        "batches": batches,
        "before_first_launch": _is_before_first_launch(campaign, batches),
        "reported": ItemReport.objects.filter(item__campaign=campaign, resolved_at=None).exists(),
    }


def _to_launch(campaign: Campaign) -> list[Batch]:
    """Return the batches with items that aren't launched yet."""
    has_items = Exists(Item.objects.filter(batch=OuterRef("pk")))
    return list(Batch.objects.filter(has_items, campaign=campaign, state=BatchState.DRAFT).order_by("ordinal"))


def _is_before_first_launch(campaign: Campaign, to_launch: Sequence[Batch]) -> bool:
    """Return whether no items of the dataset were launched yet, as while a pilot runs."""
    if campaign.state == CampaignState.DRAFT:
        return True
    if campaign.state == CampaignState.CLOSED or not any(batch.purpose == Purpose.WORK for batch in to_launch):
        return False
    launched = Batch.objects.filter(campaign=campaign, purpose=Purpose.WORK).exclude(state=BatchState.DRAFT)
    return not launched.exists()


def _bars(labels: tuple[tuple[str, Any], ...], paths: dict[str, int], total: int) -> list[dict[str, Any]]:
    """Return the bars of the chart of paths, with the positions of their parts."""
    bars = []
    for number, (path, label) in enumerate(labels):
        count = paths.get(path, 0)
        share = 100 * count / total if total else 0.0
        width = share * _BAR_UNIT
        top = number * _BAR_HEIGHT + 5
        bars.append(
            {
                "label": label,
                "count": count,
                "share": share,
                "width": f"{width:.1f}",
                "top": top,
                "y": top + 15,
                "text_x": f"{_BAR_LEFT + width + 6:.1f}",
            }
        )
    return bars


def _people(rows: list[PersonNumbers], *, named: bool) -> list[dict[str, Any]]:
    names: dict[str, str] = {}
    if named:
        users = User.objects.filter(surrogate_id__in=[row["surrogate"] for row in rows])
        names = {str(user.surrogate_id): str(user) for user in users}
    people = [{**row, "name": names.get(row["surrogate"], "")} for row in rows]
    return sorted(people, key=lambda row: (row["name"], row["surrogate"]))


def splits_counted(campaign: Campaign) -> tuple[list[SplitNumbers], datetime | None]:
    """Return how complete each split was at the last count of a job, and its time; empty before the first count."""
    row = Snapshot.objects.filter(campaign=campaign).values("data__splits", "taken_at").first()
    if row is None:
        return [], None
    # Numbers of an earlier version don't say what is complete.
    return [split for split in row["data__splits"] or [] if "complete" in split], row["taken_at"]
