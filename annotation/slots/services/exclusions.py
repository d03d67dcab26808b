"""Excluding single annotations, and counting them again, by a person's decision."""

from datetime import datetime
from uuid import UUID

from accounts.audit import record
from annotation.models import Annotation
from annotation.slots.services.counting import annotation_count_again, annotations_exclude
from database.transactions import durable


@durable
def annotation_exclude(*, annotation: Annotation, because: str, actor_id: UUID | None, now: datetime) -> bool:
    """Keep an annotation but stop counting it, and reopen its slot; return whether it was counted."""
    excluded = annotations_exclude(annotations=[annotation], because=because, actor_id=actor_id, now=now)
    if excluded:
        record(
            action="annotation_exclude",
            subject=annotation,
            now=now,
            actor_id=actor_id,
            scope_id=annotation.campaign_id,
            because=because[:300],
        )
    return bool(excluded)


@durable
def annotation_restore(*, annotation: Annotation, actor_id: UUID | None, now: datetime) -> bool:
    """Count an excluded annotation again, if nobody has taken its slot; return whether it counts."""
    restored = annotation_count_again(annotation=annotation, because="restored", actor_id=actor_id, now=now)
    if restored:
        record(
            action="annotation_restore",
            subject=annotation,
            now=now,
            actor_id=actor_id,
            scope_id=annotation.campaign_id,
        )
    return restored
