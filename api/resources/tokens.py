"""The token of the request, with its owner and scopes."""

from datetime import datetime
from typing import Any
from uuid import UUID

from ninja import Field, Query, Router

from api.http.checks import Reply
from api.http.operations import ApiRequest, operation
from api.http.paging import FieldsQuery
from api.models import ApiToken

router = Router()


class TokenReply(Reply):
    """The token of the request."""

    id: UUID
    name: str
    ending: str
    scopes: list[str]
    campaign: str | None
    person: UUID = Field(validation_alias="user.surrogate_id")
    expires_at: datetime

    @staticmethod
    def resolve_campaign(row: ApiToken) -> Any:
        """Return the short name of the only campaign that it works in."""
        return row.campaign.slug if row.campaign else None


@operation(router, "GET", "/token", TokenReply, action=None, scope=None)
def token_read(request: ApiRequest, asked: Query[FieldsQuery]) -> ApiToken:
    """Return the token of this request, to check it before anything else."""
    return request.token
