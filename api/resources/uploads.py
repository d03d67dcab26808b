"""Uploads: files that are sent first, to an address that needs no token, and imported afterwards."""

from datetime import datetime

from django.urls import reverse
from django.utils import timezone
from ninja import Field, Router, Schema

from accounts.permissions import Action
from api.http.checks import Reply, Sent
from api.http.operations import ApiRequest, operation
from api.http.presigned import SEND_WITHIN, presign
from api.http.problems import invalid
from api.http.uploads import ENDINGS
from api.models import TokenScope

router = Router()
MOST_BYTES = 64 * 2**30  # more than any dataset of text has


class UploadQuery(Schema):
    """The parameter of every operation that takes a file."""

    upload: str = Field("", max_length=1000, description="An upload to read instead of a body; see `uploads`.")


class UploadSent(Sent):
    """The file that will be sent."""

    content_type: str = Field(description="As for the operation that will read the file.")
    size: int = Field(ge=1, le=MOST_BYTES, description="In bytes.")


class UploadReply(Reply):
    """An upload. Send the file with PUT to `url`, with the same content type and size."""

    upload: str = Field(description="For the parameter `upload` of an import, within 23 hours.")
    url: str
    expires_at: datetime = Field(description="The address takes one file until then.")


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/uploads",
    UploadReply,
    action=Action.MANAGE,
    scope=TokenScope.IMPORT,
    status=201,
)
def upload_new(request: ApiRequest, campaign: str, sent: UploadSent) -> dict[str, object]:
    """Return an address to which one file can be sent without a token, to import it afterwards."""
    kind = sent.content_type.lower()
    if kind not in ENDINGS:
        raise invalid([{"field": "content_type", "detail": f"Can be sent: {', '.join(ENDINGS)}."}])
    expires_at = timezone.now() + SEND_WITHIN
    text = presign(request.token, request.campaign, kind, sent.size).signed()
    url = request.build_absolute_uri(reverse("api-upload", args=[text]))
    return {"upload": text, "url": url, "expires_at": expires_at}
