"""The click log: pieces of it as they arrive, compressed, never twice."""

from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from isal import igzip

from annotation.models import Assignment, EventChunk
from annotation.services.work import NoSuchAssignment

MAX_EVENTS = 2_000
MAX_CHUNKS = 1_000  # of one assignment: a page sends one every few seconds while something happens
# What may be recorded. Typed characters are not among it, and an unknown kind is dropped.
KINDS = frozenset(
    "show hide focus blur stage_shown box_focus box_choose span_add span_remove answer find heading help "
    "guidelines undo redo back scroll key pointer".split()
)


def events_store(*, assignment_id: UUID, surrogate_id: UUID, sequence: int, events: list[Any], now: datetime) -> int:
    """Store one piece of the log and return how many events it held; a piece sent again changes nothing.

    Raises
    ------
    NoSuchAssignment
    """
    if not Assignment.objects.filter(pk=assignment_id, surrogate_id=surrogate_id).exists():
        raise NoSuchAssignment
    kept = [clean for event in events[:MAX_EVENTS] if (clean := _clean(event)) is not None]
    if not kept or not 0 <= sequence < MAX_CHUNKS:
        return 0
    EventChunk.objects.get_or_create(
        assignment_id=assignment_id,
        sequence=sequence,
        defaults={"events": igzip.compress(orjson.dumps(kept), 2), "received_at": now},
    )
    return len(kept)


def _clean(event: Any) -> list[Any] | None:
    """Return [milliseconds since the page was shown, kind, small number or None], or None for anything else."""
    if not isinstance(event, list) or not 2 <= len(event) <= 3:
        return None
    milliseconds, kind, value = event[0], event[1], event[2] if len(event) == 3 else None
    if (
        not isinstance(kind, str)
        or kind not in KINDS
        or not _small(milliseconds)
        or not (value is None or _small(value))
    ):
        return None
    return [milliseconds, kind, value]


def _small(value: Any) -> bool:
    return isinstance(value, int) and -(2**53) < value < 2**53
