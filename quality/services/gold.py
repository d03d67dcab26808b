"""Gold checks: keys come in, answers are compared. Who meets which key when: `quality.services.gold_plans`."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Max

from accounts.audit import record
from accounts.transactions import require_transaction
from annotation.locks import campaign_lock
from annotation.models import (
    Annotation,
    AnnotationState,
    Batch,
    BatchState,
    Campaign,
    Item,
    Purpose,
)
from annotation.models import Split as SplitRow
from annotation.ordering import new_example_id
from annotation.services.item_checks import identity_sha256
from annotation.tasktypes.base import NewItem, RowError
from annotation.tasktypes.registry import TASK_TYPES, voted
from quality.models import GoldCheck, GoldKey
from quality.services.policies import policy_ensure

GOLD_SPLIT = "gold_keys"


class GoldRefused(ValueError):
    """Rows of gold keys are wrong; nothing was imported."""


def gold_import(
    *,
    campaign: Campaign,
    rows: Iterable[tuple[int, Mapping[str, Any] | RowError]],
    actor_id: UUID | None,
    now: datetime,
) -> int:
    """Import gold keys: rows of the task type with ``accepted``, the labels that are right. Return how many are new.

    Raises
    ------
    GoldRefused
        A row is wrong; the message names the first. Nothing was imported.
    """
    checked = [_checked(campaign, number, row) for number, row in rows]
    policy_ensure(campaign=campaign, now=now)
    with transaction.atomic():
        campaign_lock(campaign)
        batch, _ = Batch.objects.get_or_create(
            campaign=campaign, purpose=Purpose.GOLD,
            defaults={"ordinal": _next_ordinal(campaign), "state": BatchState.OPEN, "created_at": now},
        )  # fmt: skip
        split, _ = SplitRow.objects.get_or_create(
            campaign=campaign, name=GOLD_SPLIT, defaults={"n": 1, "weight": 0, "position": 1001}
        )
        known = set(Item.objects.filter(campaign=campaign).values_list("content_sha256", flat=True))
        ordinal = Item.objects.filter(campaign=campaign).count()
        made = 0
        for new, accepted in checked:
            if identity_sha256(new) in known:
                continue
            item = Item.objects.create(
                campaign=campaign, batch=batch, split=split, external_id=new.external_id, content=new.content,
                published_id=new_example_id(campaign.seed, new.external_id, ordinal + made), n=1, votes=1, created_at=now,
                content_sha256=identity_sha256(new),
            )  # fmt: skip
            GoldKey.objects.create(campaign=campaign, item=item, accepted=accepted)
            made += 1
        record(action="gold_import", subject=batch, now=now, actor_id=actor_id, scope_id=campaign.pk, keys=made)
    return made


def _next_ordinal(campaign: Campaign) -> int:
    return (Batch.objects.filter(campaign=campaign).aggregate(last=Max("ordinal"))["last"] or 0) + 1


def _checked(campaign: Campaign, number: int, row: Mapping[str, Any] | RowError) -> tuple[NewItem, list[Any]]:
    try:
        if isinstance(row, RowError):
            raise row
        return TASK_TYPES[campaign.task_type].item_from_row(row), _accepted(campaign, row)
    except RowError as error:
        raise GoldRefused(f"row {number}, {error.column}: {error}") from error


def _accepted(campaign: Campaign, row: Mapping[str, Any]) -> list[Any]:
    labels = voted(campaign.task_type).labels
    accepted = row.get("accepted")
    if isinstance(accepted, str):  # a table: labels separated by blanks
        accepted = [int(part) if part.isdecimal() else part for part in accepted.split()]
    if not isinstance(accepted, list) or not accepted or not set(accepted) < set(labels):
        raise RowError(f"expected some of {', '.join(map(str, labels))}, and not all of them", "accepted")
    return accepted


def gold_check(*, annotation: Annotation, now: datetime) -> GoldCheck | None:
    """Compare an annotation with its key; None where there is none, or where it does not count."""
    require_transaction()
    key = GoldKey.objects.filter(item_id=annotation.item_id).first()
    if key is None or annotation.state != AnnotationState.COUNTED:
        return None
    vote = voted(annotation.campaign.task_type).vote_key(annotation.answer)
    check, _ = GoldCheck.objects.get_or_create(
        annotation=annotation,
        defaults={
            "key": key, "campaign_id": annotation.campaign_id, "surrogate_id": annotation.surrogate_id,
            "is_hit": vote in key.accepted, "at": now,
        },
    )  # fmt: skip
    return check


def gold_checks_unlink(*, campaign: Campaign, before: UUID, after: UUID, **_: Any) -> None:
    """Move an annotator's checks to the surrogate that their work was moved to."""
    GoldCheck.objects.filter(campaign=campaign, surrogate_id=before).update(surrogate_id=after)
