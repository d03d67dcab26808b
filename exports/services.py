"""How a release is frozen and written."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Max

from accounts.audit import record
from annotation.locks import campaign_lock
from annotation.models import Campaign, Split
from exports.formats.nq import RECORDS
from exports.models import Release, ReleaseState
from jobs.services import job_enqueue


class ReleaseError(ValueError):
    """A release cannot be made as asked."""


def release_freeze(
    *,
    campaign: Campaign,
    family: str,
    ways: int,
    splits: Sequence[str],
    seed: int,
    shards: int,
    actor_id: UUID | None,
    now: datetime,
) -> Release:
    """Decide which annotations are in a release, in one short transaction.

    An item is in it when slots 0 to ``ways`` - 1 of its first round each have a counted annotation.
    Items that lack one are listed as shortfall; nothing is padded. Pilot and retired items are left out.

    Raises
    ------
    ReleaseError
        The family is unknown, or no split has that many annotations an item.
    """
    if family not in RECORDS:
        raise ReleaseError(f"unknown format {family!r}: expected one of {', '.join(RECORDS)}")
    if not 1 <= shards <= 100:
        raise ReleaseError("the number of shards must be between 1 and 100")
    with transaction.atomic():
        campaign_lock(campaign)
        chosen = _chosen_splits(campaign, splits, ways)
        last = Release.objects.filter(campaign=campaign).aggregate(last=Max("number"))["last"] or 0
        release = Release.objects.create(
            campaign=campaign, number=last + 1, family=family, ways=ways, splits=[split.name for split in chosen],
            seed=seed, shards=shards, created_at=now,
        )  # fmt: skip
        _freeze_rows(release, [split.pk for split in chosen])
        record(
            action="release_freeze", subject=release, now=now, actor_id=actor_id, scope_id=campaign.pk, family=family,
            ways=ways, splits=release.splits, seed=seed,
        )  # fmt: skip
    return release


def release_request(*, actor_id: UUID, now: datetime, **what: Any) -> Release:
    """Freeze a release (see `release_freeze`) and have it written by a job, as one transaction.

    The same release asked for again while it is being written is that one.
    """
    with transaction.atomic():
        campaign_lock(what["campaign"])
        asked = {name: what[name] for name in ("campaign", "family", "ways", "seed", "shards")}
        writing = Release.objects.filter(**asked, state=ReleaseState.WRITING, job__isnull=False).first()
        if writing is not None and what["splits"] in ([], writing.splits):
            return writing
        release = release_freeze(actor_id=actor_id, now=now, **what)
        release.job = job_enqueue(
            kind="exports.write", payload={"release": release.pk}, now=now, scope_id=release.campaign_id,
            requested_by_id=actor_id, key=f"release:{release.pk}",
        )  # fmt: skip
        release.save(update_fields=["job"])
    return release


def release_finish(*, release: Release, manifest: dict[str, Any]) -> None:
    """Mark a release as written."""
    Release.objects.filter(pk=release.pk).update(state=ReleaseState.READY, manifest=manifest)


def _chosen_splits(campaign: Campaign, names: Sequence[str], ways: int) -> list[Split]:
    splits = list(Split.objects.filter(campaign=campaign, weight__gt=0).order_by("position"))
    if names:
        unknown = set(names) - {split.name for split in splits}
        if unknown:
            raise ReleaseError(
                f"no split is called {', '.join(sorted(unknown))}: there are {', '.join(map(str, splits))}"
            )
        return [split for split in splits if split.name in names]
    enough = [split for split in splits if split.n >= ways or split.items.filter(n__gte=ways).exists()]
    if not enough:
        raise ReleaseError(f"no split wants {ways} annotations an item")
    return enough


# Two statements, whatever the size. The first alone decides what is in; the second lists everything else.
_COUNTED = """
    FROM annotation_annotation a
    JOIN annotation_slot s ON s.id = a.slot_id AND s.round = 1 AND s.index < %(ways)s
    JOIN annotation_item i ON i.id = a.item_id AND i.state = 'active'
    JOIN annotation_batch b ON b.id = i.batch_id AND NOT b.is_pilot
    WHERE a.counted AND i.campaign_id = %(campaign)s AND i.split_id IN ({splits})
"""
_MEMBERS = """
    INSERT INTO exports_releasemember (release_id, item_id, annotation_id, rank)
    SELECT %(release)s, a.item_id, a.id, s.index {counted}
    AND a.item_id IN (SELECT a.item_id {counted} GROUP BY a.item_id HAVING COUNT(*) = %(ways)s)
"""
_SHORTFALL = """
    INSERT INTO exports_shortfall (release_id, item_id, counted)
    SELECT %(release)s, i.id, COALESCE(c.counted, 0)
    FROM annotation_item i
    JOIN annotation_batch b ON b.id = i.batch_id AND NOT b.is_pilot
    LEFT JOIN (SELECT a.item_id AS item_id, COUNT(*) AS counted {counted} GROUP BY a.item_id) c ON c.item_id = i.id
    WHERE i.campaign_id = %(campaign)s AND i.state = 'active' AND i.split_id IN ({splits})
    AND NOT EXISTS (SELECT 1 FROM exports_releasemember m WHERE m.release_id = %(release)s AND m.item_id = i.id)
"""


def _freeze_rows(release: Release, split_ids: list[int]) -> None:
    splits = ", ".join(str(int(pk)) for pk in split_ids)
    counted = _COUNTED.format(splits=splits)
    campaign = Release._meta.get_field("campaign").get_db_prep_value(release.campaign_id, connection)  # noqa: SLF001
    parameters = {"release": release.pk, "campaign": campaign, "ways": release.ways}
    quoted = connection.ops.quote_name("index")
    with connection.cursor() as cursor:
        for statement in (_MEMBERS, _SHORTFALL):
            sql = statement.format(counted=counted, splits=splits).replace("s.index", f"s.{quoted}")
            cursor.execute(sql, parameters)
