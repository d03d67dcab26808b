"""Addresses to which one file can be sent without a token, for an import that comes later.

The address is signed and holds everything about the file, so nothing is stored until the file arrives.
"""

import os
import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import IO, Any

from django.core import signing
from django.core.files.storage import default_storage
from django.http import HttpRequest
from django.utils import timezone

from annotation.locks import campaign_lock
from annotation.models import Campaign
from api.http.problems import Refused, invalid, not_found
from api.http.uploads import Received, body_store, received_name
from jobs.models import Job
from jobs.uploads import NOBODYS_HOURS

SALT = "api.presigned"
SEND_WITHIN = timedelta(hours=1)
IMPORT_WITHIN = timedelta(hours=NOBODYS_HOURS)  # then the file is deleted


@dataclass(frozen=True, slots=True)
class Presigned:
    """What an address allows: one file of this type and size (in bytes), for one campaign."""

    campaign: str
    file: str
    content_type: str
    size: int

    def signed(self) -> str:
        """Return the text that the address ends in."""
        return signing.dumps([self.campaign, self.file, self.content_type, self.size], salt=SALT)

    @classmethod
    def of(cls, text: str, within: timedelta) -> "Presigned | None":
        """Return what a signed text allows; None if it isn't signed here or is too old."""
        try:
            return cls(*signing.loads(text, salt=SALT, max_age=within))
        except signing.BadSignature:
            return None


def presign(campaign: Campaign, content_type: str, size: int) -> Presigned:
    """Return the permission to send one file."""
    return Presigned(str(campaign.pk), uuid.uuid4().hex, content_type, size)


def presigned_store(request: HttpRequest, text: str) -> None:
    """Store the body of a request as the file that the address allows, which is possible once.

    Raises
    ------
    Refused
        The address isn't valid, or it was used; the type or size is another one; the connection ended early.
    """
    if (allowed := Presigned.of(text, SEND_WITHIN)) is None:
        raise not_found()
    if (request.content_type or "").lower() != allowed.content_type:
        raise Refused(415, "content_type", f"Send this file with the content type {allowed.content_type}.")
    if request.headers.get("Content-Length", "") != str(allowed.size):
        raise Refused(422, "upload_size", f"Send exactly {allowed.size} bytes, with the header Content-Length.")
    stored, _sha256 = body_store(request, allowed.size)
    try:
        # Under the name that an import knows, the file is either complete or absent, and it is never replaced.
        os.link(default_storage.path(stored), default_storage.path(allowed.file))
    except FileExistsError as error:
        raise Refused(409, "upload_used", "A file was sent to this address already.") from error
    finally:
        default_storage.delete(stored)


class ReceivedBefore(Received):
    """A file that was sent to a presigned address. A refused request doesn't delete it; a job takes it once."""

    def __init__(self, allowed: Presigned, campaign: Campaign, sha256: str) -> None:
        super().__init__(allowed.file, received_name(allowed.content_type), sha256)
        self._campaign = campaign

    def take(self) -> str:
        """Return the place of the file, for a job that will delete it."""
        campaign_lock(self._campaign)  # of two imports of one file, the second sees the job of the first
        self._check()
        since = timezone.now() - IMPORT_WITHIN
        jobs = Job.objects.filter(scope_id=self._campaign.pk, created_at__gte=since, payload__file=self.stored)
        if jobs.exists():
            raise _gone()
        return super().take()

    def open(self) -> IO[Any]:
        """Open the file."""
        self._check()
        return super().open()

    def forget(self) -> None:
        """Keep the file, for another try; a sweep deletes it within a day."""

    def _check(self) -> None:
        if not default_storage.exists(self.stored):
            raise _gone()


def received_before(text: str, campaign: Campaign, kinds: tuple[str, ...], sha256: str) -> ReceivedBefore:
    """Return the file that was sent to a presigned address of this campaign.

    Raises
    ------
    Refused
        The text isn't signed for this campaign, is too old, or its content type isn't one of ``kinds``.
    """
    allowed = Presigned.of(text, IMPORT_WITHIN)
    if allowed is None or allowed.campaign != str(campaign.pk):
        raise _gone()
    if allowed.content_type not in kinds:
        said = f"This upload is {allowed.content_type}. This operation reads: {', '.join(kinds)}."
        raise invalid([{"field": "upload", "detail": said}])
    return ReceivedBefore(allowed, campaign, sha256)


def _gone() -> Refused:
    return invalid(
        [{"field": "upload", "detail": "No file was sent for this upload, or it was imported or has expired."}]
    )
