"""The audit trail: who changed what. Events are written in the same transaction as the change."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Model

from accounts.models import AuditEvent
from database.transactions import require_transaction
from web.acting import acting_token


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
    actor_id: the surrogate of the person, or None if a rule of the platform acted.
    subject: the changed object, written as ``model:key``.
    data: details that a reader needs to understand the change; nothing personal. The API token that acted is added.
    """
    require_transaction()
    if token := acting_token():
        data["token"] = token
    name = f"{subject._meta.model_name}:{subject.pk}" if isinstance(subject, Model) else subject  # noqa: SLF001
    AuditEvent.objects.create(at=now, actor_id=actor_id, scope_id=scope_id, action=action, subject=name, data=data)
