"""The audit trail: who changed what, written with the change itself."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Model

from accounts.models import AuditEvent
from database.transactions import require_transaction


def record(
    *,
    action: str,
    subject: Model | str,
    now: datetime,
    actor_id: UUID | None,
    scope_id: UUID | None = None,
    **data: Any,
) -> None:
    """Add an event to the audit trail.

    Parameters
    ----------
    actor_id: the surrogate of the person, or None for a rule of the platform.
    subject: what was changed, printed as ``model:key``.
    data: what a reader needs to understand the change; nothing personal.
    """
    require_transaction()
    name = f"{subject._meta.model_name}:{subject.pk}" if isinstance(subject, Model) else subject  # noqa: SLF001
    AuditEvent.objects.create(at=now, actor_id=actor_id, scope_id=scope_id, action=action, subject=name, data=data)
