"""Systems: add them where people judge their answers or find answers on pages, and read how they compare."""

from typing import Any

from django.utils import timezone
from ninja import Field, Query, Router

from accounts.permissions import Action
from annotation.tasktypes.base import Extractive, Judging
from annotation.tasktypes.registry import TASK_TYPES
from api.http.checks import Sent, checked
from api.http.operations import ApiRequest, operation
from api.http.paging import FieldsQuery
from api.http.problems import Refused
from api.models import TokenScope
from api.resources.imports import TABLES, NameQuery, upload_queued
from api.resources.jobs import JobReply, job_named
from api.resources.quality import NumbersReply, numbers_shown
from evaluation.models import PredictedSystem
from evaluation.predicted.forms import MOST_DRAWN, PredictionsSampleForm
from evaluation.predicted.services import sample_request
from evaluation.system_scores import has_systems, scores_request, scores_shown
from jobs.models import Job
from measures.rectified import LEAST
from quality.experts.services.cases import MOST_EXPERTS

router = Router()


class SystemsQuery(NameQuery):
    """The parameters of an upload of systems."""

    count: int = Field(200, ge=LEAST, le=100_000, description="The number of questions to judge; of the first upload.")


class PredictionsQuery(NameQuery):
    """The parameters of an upload of a system's predictions."""

    system: str = Field(min_length=1, max_length=PredictedSystem.MOST_NAME, description="The name of the system.")
    least_long: float | None = Field(
        None, allow_inf_nan=False, description="Long answers with a lower score count as no answer."
    )
    least_short: float | None = Field(
        None, allow_inf_nan=False, description="Short answers with a lower score count as no answer."
    )


class PredictionsSample(Sent):
    """A draw of items for experts."""

    count: int = Field(ge=1, le=MOST_DRAWN, description="The number of items.")
    experts: int = Field(2, ge=1, le=MOST_EXPERTS, description="The number of experts per item.")


def _check_type(request: ApiRequest, kind: type[Any]) -> None:
    if not isinstance(TASK_TYPES[request.campaign.task_type], kind):
        raise Refused(409, "systems_impossible", "Campaigns of this task type don't compare systems in this way.")


@operation(router, "GET", "/campaigns/{campaign}/systems", NumbersReply, action=Action.SEE_RELEASES)
def system_list(request: ApiRequest, campaign: str, asked: Query[FieldsQuery]) -> Any:
    """Return how systems compare: in human terms where people judge answers, with annotators where these find them."""
    if not has_systems(request.campaign):
        raise Refused(409, "systems_impossible", "Campaigns of this task type don't compare systems.")
    job = scores_request(campaign=request.campaign, now=timezone.now())
    return numbers_shown(scores_shown(request.campaign), job)


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
    _check_type(request, Judging)
    return upload_queued(request, "evaluation.systems", asked, count=asked.count)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/systems:import-predictions",
    JobReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
    status=202,
    uploads=("application/json",),
)
def prediction_import(request: ApiRequest, campaign: str, asked: Query[PredictionsQuery]) -> Job:
    """Add a system by its predictions, in the format of the official Natural Questions evaluation."""
    _check_type(request, Extractive)
    options = asked.dict(exclude={"name", "upload"})
    return upload_queued(request, "evaluation.predictions", asked, **options)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/systems:judge",
    JobReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
    status=202,
)
def prediction_sample(request: ApiRequest, campaign: str, sent: PredictionsSample) -> Job:
    """Send all systems' answers to random items to experts, with those of an annotator; nobody is told whose they are."""
    _check_type(request, Extractive)
    form = checked(PredictionsSampleForm(request.campaign, None, sent.dict()))
    job = sample_request(
        campaign=request.campaign,
        count=form["count"],
        experts=form["experts"],
        actor_id=request.user.surrogate_id,
        now=timezone.now(),
    )
    return job_named(request, job)
