"""Systems in human terms: add systems, and read their scores."""

from typing import Any

from django.utils import timezone
from ninja import Field, Query, Router

from accounts.permissions import Action
from annotation.campaigns.selectors.sealing import sealed_names
from annotation.tasktypes.base import Judging
from annotation.tasktypes.registry import TASK_TYPES
from api.http.operations import ApiRequest, operation
from api.http.paging import FieldsQuery
from api.http.problems import Refused
from api.models import TokenScope
from api.resources.imports import TABLES, NameQuery, upload_queued
from api.resources.jobs import JobReply
from api.resources.quality import NumbersReply, numbers_shown
from evaluation.models import SystemScores
from evaluation.rectified.services import scores_request
from jobs.models import Job
from measures.rectified import LEAST

router = Router()


class SystemsQuery(NameQuery):
    """The parameters of an upload of systems."""

    count: int = Field(200, ge=LEAST, le=100_000, description="The number of questions to judge; of the first upload.")


def _judged(request: ApiRequest) -> None:
    if not isinstance(TASK_TYPES[request.campaign.task_type], Judging):
        raise Refused(409, "systems_impossible", "In this campaign, people don't judge answers of systems.")


@operation(router, "GET", "/campaigns/{campaign}/systems", NumbersReply, action=Action.SEE_RELEASES)
def system_list(request: ApiRequest, campaign: str, asked: Query[FieldsQuery]) -> Any:
    """Return the scores of systems in human terms, in a campaign in which people judge their answers."""
    _judged(request)
    job = scores_request(campaign=request.campaign, now=timezone.now())
    found = numbers_shown(SystemScores.objects.filter(campaign=request.campaign).first(), job)
    return found | ({"data": {}} if sealed_names(request.campaign) else {})


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/systems",
    JobReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
    status=202,
    uploads=TABLES,
)
def system_import(request: ApiRequest, campaign: str, asked: Query[SystemsQuery]) -> Job:
    """Add systems: a row per question and system, with the columns of the page. The first upload draws the questions."""
    _judged(request)
    return upload_queued(request, "evaluation.systems", asked, count=asked.count)
