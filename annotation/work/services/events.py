"""The click log, stored in compressed pieces as they arrive, each only once."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from django.conf import settings
from django.db.models import F
from isal import igzip

from accounts.parameters import whole_number
from accounts.selectors import knows_of_behaviour
from annotation.models import Assignment, EventChunk, EventTally
from annotation.work.services.assignments import NoSuchAssignment
from database.statements import Insert, Statement
from database.transactions import durable, require_transaction

MAX_EVENTS = 2_000
MAX_CHUNKS = 1_000  # of one assignment: a page sends one every few seconds while something happens
# What may be recorded. Typed characters are not among it, and an unknown kind is dropped.
KINDS = frozenset(
    "show hide focus blur stage_shown box_focus box_choose span_add span_remove answer find heading around help "
    "guidelines undo redo back scroll key pointer".split()
)
# Only of who agreed to a text that says so: input that no device made; characters that were pasted (how many).
UNTRUSTED, PASTE = "untrusted", "paste"
TOLD = frozenset({UNTRUSTED, PASTE})
LEFT = "blur"  # recorded of everybody, and counted only of who agreed to it
MOST_PASTED = 1_000_000  # characters that a piece tells of
MOST_TRIMMED = 2_000  # pieces a sweep


_OWN = Statement(
    lambda pk, surrogate: Assignment.objects.filter(pk=pk, surrogate_id=surrogate).only("pk", "campaign_id"), UUID, UUID
)


_ADD = Insert(EventChunk, once=True)


class Piece(NamedTuple):
    """A piece of the log as a page sent it. Pieces of an assignment have growing numbers."""

    sequence: int
    events: list[Any]


def piece_sent(fields: Mapping[str, Any]) -> Piece | None:
    """Return the piece in a form's fields ``events`` (JSON) and ``sequence``; None if it is missing or malformed."""
    sequence = whole_number(str(fields.get("sequence", "")), -1)
    try:
        events = json.loads(fields.get("events") or "[]")
    except (TypeError, ValueError, RecursionError):
        return None
    return Piece(sequence, events) if isinstance(events, list) and events and sequence >= 0 else None


def events_store(*, assignment_id: UUID, surrogate_id: UUID, piece: Piece, now: datetime) -> int:
    """Store one piece of the log and return how many events it held; a piece sent again changes nothing.

    Raises
    ------
    NoSuchAssignment
    """
    own = _OWN.first(assignment_id, surrogate_id)
    if own is None:
        raise NoSuchAssignment
    return _kept_alone(own, surrogate_id, piece, now)


def events_keep(own: Assignment, surrogate_id: UUID, piece: Piece, now: datetime) -> int:
    """Do what `events_store` does for a person's own assignment, as part of a transaction."""
    require_transaction()
    assignment_id, sequence, events = own.pk, *piece
    kept = [clean for event in events[:MAX_EVENTS] if (clean := _clean(event)) is not None]
    has_told = any(kind in TOLD or kind == LEFT for _at, kind, _value in kept)
    if has_told and not knows_of_behaviour(scope_id=own.campaign_id, surrogate_id=surrogate_id):
        kept, has_told = [event for event in kept if event[1] not in TOLD], False
    if not kept or not 0 <= sequence < MAX_CHUNKS:
        return 0
    packed = igzip.compress(orjson.dumps(kept), 2)
    chunk = EventChunk(assignment_id=assignment_id, sequence=sequence, events=packed, received_at=now)
    if _ADD.run(chunk) and has_told:
        _count(assignment_id, kept)
    return len(kept)


_kept_alone = durable(events_keep)


def _count(assignment_id: UUID, kept: list[list[Any]]) -> None:
    pasted = [max(value or 0, 0) for _at, kind, value in kept if kind == PASTE]
    EventTally.objects.get_or_create(assignment_id=assignment_id)
    EventTally.objects.filter(assignment_id=assignment_id).update(
        untrusted=F("untrusted") + sum(kind == UNTRUSTED for _at, kind, _value in kept),
        pastes=F("pastes") + len(pasted),
        pasted=F("pasted") + min(sum(pasted), MOST_PASTED),
        left=F("left") + sum(kind == LEFT for _at, kind, _value in kept),
    )


def events_trim(now: datetime) -> int:
    """Delete the oldest pieces of click logs after their retention time; return how many. Tallies stay."""
    oldest = EventChunk.objects.order_by("pk").values_list("pk", "received_at")
    before = now - timedelta(days=settings.CLICK_LOG_DAYS)
    first = oldest.first()
    if first is None or first[1] >= before:  # as almost always
        return 0
    due = [pk for pk, received_at in oldest[:MOST_TRIMMED] if received_at < before]
    return EventChunk.objects.filter(pk__in=due).delete()[0]


def _clean(event: Any) -> list[Any] | None:
    """Return [milliseconds since the page was shown, kind, small number or None], or None for anything else."""
    if not isinstance(event, list) or not 2 <= len(event) <= 3:
        return None
    milliseconds, kind, value = event[0], event[1], event[2] if len(event) == 3 else None
    if (
        not isinstance(kind, str)
        or kind not in KINDS | TOLD
        or not _small(milliseconds)
        or not (value is None or _small(value))
    ):
        return None
    return [milliseconds, kind, value]


def _small(value: Any) -> bool:
    return isinstance(value, int) and -(2**53) < value < 2**53
