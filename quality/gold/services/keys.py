"""Import gold keys. Later changes: `quality.gold.services.key_changes`.

Which answers a gold question accepts: `annotation.tasktypes.nq.gold` and `annotation.tasktypes.labels`. The choice of the key for each annotator: `quality.gold.services.exposures`.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import Max

from accounts.audit import record
from annotation.items.services.item_checks import Checked, checked_rows
from annotation.locks import campaign_lock
from annotation.models import Batch, BatchState, Campaign, Item, Purpose
from annotation.models import Split as SplitRow
from annotation.people.services.standing import injections_unscheduled
from annotation.slots.ordering import new_example_id
from annotation.tasktypes.base import Accepted
from annotation.tasktypes.registry import TASK_TYPES
from database.transactions import require_transaction
from documents.models import Tokenization
from documents.selectors import tokenization_of
from quality.experts.services.cases import case_open, experts_check
from quality.models import CaseReason, GoldKey, GoldKeyState
from quality.policies.services import policy_ensure
from storage.tables.faults import RowError
from storage.tables.reading import Row
from web.errors import KeyedError

GOLD_SPLIT = "gold_keys"
MOST_KEYS = 10_000  # of one file


class GoldRefused(KeyedError):
    """Rows of gold keys are invalid; nothing was imported."""


class NewKey(NamedTuple):
    """A row that can become a gold key."""

    row: Checked
    accepted: Accepted


def gold_import(
    *, campaign: Campaign, rows: Iterable[Row], actor_id: UUID | None, now: datetime, experts: int = 0
) -> int:
    """Import gold keys: rows of the task type with ``accepted``, the right answers. Return the number of new keys.

    With ``experts``, a key is used only after that many experts confirm it without knowing its accepted answers.

    Raises
    ------
    GoldRefused
        A row is invalid; the message names the first one. Nothing was imported.
    """
    if experts:
        experts_check(experts)
    keys = _checked(campaign, rows)
    policy_ensure(campaign=campaign, now=now)
    with transaction.atomic():
        campaign_lock(campaign)
        batch, split = gold_place(campaign=campaign, now=now)
        ordinal = Item.objects.filter(campaign=campaign).count()
        for number, new in enumerate(keys, ordinal):
            _key_create(campaign, batch, split, new, number, experts, now)
        record(action="gold_import", subject=batch, now=now, actor_id=actor_id, scope_id=campaign.pk, keys=len(keys))
    return len(keys)


def gold_place(*, campaign: Campaign, now: datetime) -> tuple[Batch, SplitRow]:
    """Return the batch and the split for the gold keys of a locked campaign; create them if they are missing."""
    require_transaction()
    last = Batch.objects.filter(campaign=campaign).aggregate(last=Max("ordinal"))["last"] or 0
    batch, _ = Batch.objects.get_or_create(
        campaign=campaign,
        purpose=Purpose.GOLD,
        defaults={"ordinal": last + 1, "state": BatchState.OPEN, "created_at": now},
    )
    split, _ = SplitRow.objects.get_or_create(
        campaign=campaign, name=GOLD_SPLIT, defaults={"n": 1, "weight": 0, "position": 1001}
    )
    return batch, split


def _key_create(
    campaign: Campaign, batch: Batch, split: SplitRow, new: NewKey, number: int, experts: int, now: datetime
) -> None:
    row = new.row
    item = Item.objects.create(
        campaign=campaign,
        batch=batch,
        split=split,
        external_id=row.external_id,
        content=json.loads(row.content),
        published_id=new_example_id(campaign.seed, row.external_id, number),
        n=1,
        votes=1,
        created_at=now,
        content_sha256=row.content_sha256,
        tokenization_id=row.tokenization_id,
    )
    key_create(item=item, accepted=new.accepted, experts=experts, actor_id=None, now=now)


def key_create(
    *, item: Item, accepted: Accepted, experts: int, actor_id: UUID | None, now: datetime, exposures: int = 0
) -> GoldKey:
    """Make an item a gold key; with experts, the key waits until that many experts confirm it."""
    require_transaction()
    state = GoldKeyState.WAITING if experts else GoldKeyState.ACTIVE
    key = GoldKey.objects.create(
        campaign_id=item.campaign_id, item=item, accepted=accepted, state=state, exposures=exposures
    )
    if experts:
        parts = TASK_TYPES[item.campaign.task_type].parts_of_key(accepted)
        case_open(item=item, because=CaseReason.GOLD, experts=experts, parts=parts, actor_id=actor_id, now=now)
    else:
        injections_unscheduled(campaign=item.campaign)
    return key


def _checked(campaign: Campaign, rows: Iterable[Row]) -> list[NewKey]:
    """Check every row, and return the keys of the new rows."""
    listed = dict(rows)
    if len(listed) > MOST_KEYS:
        raise GoldRefused("gold_too_many", most=MOST_KEYS)
    task_type, found = TASK_TYPES[campaign.task_type], []
    for chunk in checked_rows(campaign, task_type, listed.items()):
        for number, outcome in chunk:
            if isinstance(outcome, RowError):
                raise _refused(number, outcome)
            if outcome is not None:
                found.append(NewKey(outcome, _accepted(campaign, number, listed[number], outcome)))
    return found


def _accepted(campaign: Campaign, number: int, row: Mapping[str, Any] | RowError, checked: Checked) -> Accepted:
    assert not isinstance(row, RowError)
    page = Tokenization.objects.filter(pk=checked.tokenization_id).first() if checked.tokenization_id else None
    try:
        return TASK_TYPES[campaign.task_type].accepted_from(row, tokenization_of(page))
    except RowError as error:
        raise _refused(number, error) from error


def _refused(number: int, error: RowError) -> GoldRefused:
    return GoldRefused("gold_row", row=number, column=error.column, problem=str(error))
