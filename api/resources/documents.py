"""Documents: the imported pages of a campaign."""

from typing import Any

from ninja import Field, Query, Router

from accounts.permissions import Action
from api.http.checks import Reply
from api.http.operations import ApiRequest, operation
from api.http.paging import Page, PageQuery, page_of

router = Router()


class DocumentReply(Reply):
    """A page under the name it was imported by."""

    id: int = Field(validation_alias="pk")
    name: str
    title: str = Field(validation_alias="tokenization.document.title")
    sha256: str = Field(validation_alias="tokenization.document.sha256")
    bytes: int = Field(validation_alias="tokenization.document.size")
    tokens: int = Field(validation_alias="tokenization.token_count")
    candidates: int = Field(validation_alias="tokenization.candidate_count")


@operation(router, "GET", "/campaigns/{campaign}/documents", Page[DocumentReply], action=Action.MANAGE)
def document_list(request: ApiRequest, campaign: str, asked: Query[PageQuery]) -> Any:
    """List the imported pages."""
    return page_of(request, request.campaign.documents.select_related("tokenization__document"), asked)
