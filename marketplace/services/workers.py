"""Workers: sign-up, profile, messages, and blocks by requesters."""

import hashlib
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F

from marketplace.models import Requester, SignupInvitation, Worker, WorkerBlock, WorkerMessage
from marketplace.protocol.errors import ParameterError
from marketplace.protocol.ids import customer_id


def worker_find(worker_id: str) -> Worker:
    """Return a worker.

    Raises
    ------
    ParameterError
        There is none with this id.
    """
    worker = Worker.objects.filter(worker_id=worker_id).first()
    if worker is None:
        raise ParameterError(f'The value "{worker_id}" is not valid for the parameter WorkerId.')
    return worker


def worker_create(*, email: str, password: str | None, now: datetime, **fields: object) -> Worker:
    """Create a worker's account. The terms count as accepted only if ``agreed_at`` is given."""
    return Worker.objects.create_user(email, password, worker_id=customer_id(), joined_at=now, **fields)


def worker_agree(*, worker: Worker, now: datetime) -> None:
    """Record that a worker has agreed to the terms of work."""
    Worker.objects.filter(pk=worker.pk, agreed_at=None).update(agreed_at=now)


def worker_update(
    *, worker: Worker, display_name: str, country: str, subdivision: str, is_adult_content_ok: bool
) -> None:
    """Change a worker's profile. The country can be set only once, since requesters rely on it; see `worker_move`."""
    mine = Worker.objects.filter(pk=worker.pk)
    mine.update(display_name=display_name, is_adult_content_ok=is_adult_content_ok)
    mine.filter(country="").update(country=country, subdivision=subdivision)


def worker_move(*, worker: Worker, country: str, subdivision: str) -> None:
    """Change a worker's country. For operators only, since requirements rely on it."""
    Worker.objects.filter(pk=worker.pk).update(country=country, subdivision=subdivision)


def worker_block(*, requester: Requester, worker: Worker, reason: str, now: datetime) -> None:
    """Block a worker; blocking again changes the reason."""
    WorkerBlock.objects.update_or_create(
        requester=requester,
        worker=worker,
        defaults={"reason": reason},
        create_defaults={"reason": reason, "created_at": now},
    )


def worker_unblock(*, requester: Requester, worker: Worker) -> None:
    """Remove a block, if there is one."""
    WorkerBlock.objects.filter(requester=requester, worker=worker).delete()


def workers_notify(*, requester: Requester, subject: str, text: str, workers: Iterable[Worker], now: datetime) -> None:
    """Send a message to each worker's inbox."""
    WorkerMessage.objects.bulk_create(
        [WorkerMessage(worker=one, requester=requester, subject=subject, text=text, sent_at=now) for one in workers]
    )


def messages_read(*, worker: Worker, now: datetime) -> None:
    """Mark a worker's messages as read."""
    WorkerMessage.objects.filter(worker=worker, read_at=None).update(read_at=now)


def invitation_create(*, uses: int, days: int, note: str, now: datetime) -> str:
    """Create a sign-up link and return its token."""
    token = secrets.token_urlsafe(24)
    SignupInvitation.objects.create(
        token_sha256=token_hash(token), uses_left=uses, expires_at=now + timedelta(days=days), note=note
    )
    return token


def invitation_is_usable(*, token_sha256: str, now: datetime) -> bool:
    """Return whether a token still gives access to the sign-up form."""
    return SignupInvitation.objects.filter(token_sha256=token_sha256, uses_left__gt=0, expires_at__gt=now).exists()


def invitation_use(*, token_sha256: str, now: datetime) -> bool:
    """Take one use of an invitation; return False if none is left."""
    with transaction.atomic():
        return bool(
            SignupInvitation.objects.filter(token_sha256=token_sha256, uses_left__gt=0, expires_at__gt=now).update(
                uses_left=F("uses_left") - 1
            )
        )


def token_hash(token: str) -> str:
    """Return the hash of an invitation's token that is stored in its row and in the visitor's session."""
    return hashlib.sha256(token.encode()).hexdigest()
