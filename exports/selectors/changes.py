"""The differences from the previous release, counted while a release is frozen."""

from typing import Any

from exports.models import Release
from exports.selectors.within import within


def since_before(release: Release) -> dict[str, int] | None:
    """Return the number of the previous release in the same format, and how many items were added, removed and changed.

    A changed item has another label, or other annotations. Returns None if there is no previous release.
    """
    same = Release.objects.filter(campaign=release.campaign_id, family=release.family, ways=release.ways)
    before = same.filter(number__lt=release.number).order_by("-number").first()
    if before is None:
        return None
    rows: Any = (before.verdicts, release.verdicts)
    if not any(side.exists() for side in rows):
        rows = (before.members, release.members)
    old, new = rows
    counts = {"added": _items(new, old), "removed": _items(old, new)}
    return {"release": before.number, **counts, "changed": _changed(release, before)}


def _items(there: Any, elsewhere: Any) -> int:
    """Return the number of items that are in ``there`` and not in ``elsewhere``."""
    only = there.filter(~within(elsewhere.all())).values("item").distinct()
    return int(only.count())


def _changed(release: Release, before: Release) -> int:
    members = release.members.filter(item__in=before.members.values("item"))
    others: int = members.filter(~within(before.members.all(), "annotation")).values("item").distinct().count()
    verdicts = release.verdicts.filter(~within(before.verdicts.all(), "verdict"))
    then = dict(before.verdicts.filter(item__in=verdicts.values("item")).values_list("item_id", "verdict__label"))
    now = verdicts.filter(item__in=before.verdicts.values("item")).values_list("item_id", "verdict__label")
    return others + sum(bool(label != then[item]) for item, label in now)
