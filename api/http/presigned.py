"""Addresses to which one file can be sent without a token, for an import that comes later.

The address is signed and holds everything about the file, so nothing is stored until the file arrives.
"""

import os
import shutil
import uuid
from dataclasses import astuple, dataclass
from datetime import timedelta
from typing import IO, Any
from uuid import UUID

from django.conf import settings
from django.core import signing
from django.core.files.storage import default_storage
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from accounts.permissions import Action, can
from annotation.locks import campaign_lock
from annotation.models import Campaign
from api.http.problems import Refused, invalid, not_found
from api.http.uploads import Received, body_store, received_name
from api.models import ApiToken
from api.tokens.selectors import token_in_force
from jobs.models import Job
from jobs.uploads import NOBODYS_HOURS

SALT = "api.presigned"
SEND_WITHIN = timedelta(hours=1)
IMPORT_WITHIN = timedelta(hours=NOBODYS_HOURS - 1)  # the file is deleted an hour later


@dataclass(frozen=True, slots=True)
class Presigned:
    """What an address allows: one file of this type and size (in bytes), for one campaign, while a token is in force."""

    token: str
    campaign: str
    file: str
    content_type: str
    size: int

    def signed(self) -> str:
        """Return the text that the address ends in."""
        return signing.dumps(list(astuple(self)), salt=SALT)

    @classmethod
    def of(cls, text: str, within: timedelta | None = None) -> "Presigned | None":
        """Return what a signed text allows; None if it isn't signed here or is too old."""
        try:
            return cls(*signing.loads(text, salt=SALT, max_age=within))
        except signing.BadSignature:
            return None


def presign(token: ApiToken, campaign: Campaign, content_type: str, size: int) -> Presigned:
    """Return the permission to send one file."""
    return Presigned(str(token.pk), str(campaign.pk), uuid.uuid4().hex, content_type, size)


def presigned_store(request: HttpRequest, text: str) -> None:
    """Store the body of a request as the file that the address allows, which is possible once.

    Raises
    ------
    Refused
        The address isn't valid (any more), or it was used; the type or size is another one; the connection ended early;
        the disk is nearly full.
    """
    allowed, now = Presigned.of(text, SEND_WITHIN), timezone.now()
    token = allowed and token_in_force(UUID(allowed.token), now)
    if allowed is None or not token or not can(token.user, Action.MANAGE, UUID(allowed.campaign)):
        raise not_found()
    if (request.content_type or "").lower() != allowed.content_type:
        raise Refused(415, "content_type", f"Send this file with the content type {allowed.content_type}.")
    if request.headers.get("Content-Length", "") != str(allowed.size):
        raise Refused(422, "upload_size", f"Send exactly {allowed.size} bytes, with the header Content-Length.")
    used = Refused(409, "upload_used", "A file was sent to this address already.")
    if default_storage.exists(allowed.file) or _jobs_of(UUID(allowed.campaign), allowed.file).exists():
        raise used
    full = Refused(507, "storage_full", "The upload can't be stored.")
    if shutil.disk_usage(settings.DATA_DIR).free < allowed.size + settings.DISK_FLOOR_BYTES:
        raise full
    stored, _sha256 = body_store(request, allowed.size)
    try:
        # Under the name that an import knows, the file is either complete or absent, and it is never replaced.
        os.link(default_storage.path(stored), default_storage.path(allowed.file))
    except FileExistsError:
        raise used from None
    except OSError as error:
        raise full from error
    finally:
        default_storage.delete(stored)


def _jobs_of(campaign_id: UUID, file: str) -> QuerySet[Job]:
    """Return the jobs that took a file."""
    since = timezone.now() - IMPORT_WITHIN - SEND_WITHIN
    return Job.objects.filter(scope_id=campaign_id, created_at__gte=since, payload__file=file)


class ReceivedBefore(Received):
    """A file that was sent to a presigned address. A refused request doesn't delete it; a job takes it once."""

    def __init__(self, allowed: Presigned, campaign: Campaign, sha256: str, *, is_expired: bool) -> None:
        super().__init__(allowed.file, received_name(allowed.content_type), sha256)
        self._campaign, self._is_expired = campaign, is_expired

    def take(self) -> str:
        """Return the place of the file, for a job that will delete it."""
        campaign_lock(self._campaign)  # of two imports of one file, the second sees the job of the first
        self._check()
        if _jobs_of(self._campaign.pk, self.stored).exists():
            raise _gone()
        return super().take()

    def open(self) -> IO[Any]:
        """Open the file."""
        self._check()
        return super().open()

    def forget(self) -> None:
        """Keep the file, for another try; a sweep deletes it within a day."""

    def _check(self) -> None:
        if self._is_expired or not default_storage.exists(self.stored):
            raise _gone()


def received_before(text: str, campaign: Campaign, kinds: tuple[str, ...], sha256: str) -> ReceivedBefore:
    """Return the file that was sent to a presigned address of this campaign.

    Raises
    ------
    Refused
        The text isn't signed for this campaign, or its content type isn't one of ``kinds``. Whether the file is there
        is looked at when it is taken: a repeated request gets its first answer long after.
    """
    allowed = Presigned.of(text)
    if allowed is None or allowed.campaign != str(campaign.pk):
        raise _gone()
    if allowed.content_type not in kinds:
        said = f"This upload is {allowed.content_type}. This operation reads: {', '.join(kinds)}."
        raise invalid([{"field": "upload", "detail": said}])
    return ReceivedBefore(allowed, campaign, sha256, is_expired=Presigned.of(text, IMPORT_WITHIN) is None)


def _gone() -> Refused:
    return invalid(
        [{"field": "upload", "detail": "No file was sent for this upload, or it was imported or has expired."}]
    )
