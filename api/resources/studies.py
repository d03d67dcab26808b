"""Studies: many annotations of a sample, some of them judged by experts."""

from dataclasses import asdict
from typing import Any

from ninja import Query, Router

from accounts.permissions import Action
from annotation.tasktypes.base import Extractive
from annotation.tasktypes.registry import TASK_TYPES
from api.http.checks import Sent, checked
from api.http.operations import ApiRequest, operation
from api.http.paging import FieldsQuery
from api.http.problems import Refused
from api.models import TokenScope
from api.resources.jobs import JobReply, job_queued
from api.resources.quality import NumbersReply, numbers_shown
from jobs.models import Job
from quality.models import StudySnapshot
from quality.payloads import StudyPayload
from quality.studies.forms import StudyForm

router = Router()


class StudySent(Sent):
    """The design of a study: many annotations of a sample, some judged by experts."""

    split: str
    ways: int = 25
    sample: int = 302
    seed: int = 0
    experts: int = 4


@operation(router, "GET", "/campaigns/{campaign}/studies", NumbersReply, action=Action.SEE_RELEASES)
def study_read(request: ApiRequest, campaign: str, asked: Query[FieldsQuery]) -> Any:
    """Return the last computed studies, as the Studies page downloads them."""
    return numbers_shown(StudySnapshot.objects.filter(campaign=request.campaign).first(), None)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/studies:plan",
    JobReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
    status=202,
)
def study_plan(request: ApiRequest, campaign: str, sent: StudySent) -> Job:
    """Compute what a study needs. The job's `result` has the numbers; begin the study with `studies:begin`."""
    return _study(request, sent, "quality.study_needs")


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/studies:begin",
    JobReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
    status=202,
)
def study_begin(request: ApiRequest, campaign: str, sent: StudySent) -> Job:
    """Begin a study: request the annotations and send the references to experts."""
    return _study(request, sent, "quality.study_begin")


def _study(request: ApiRequest, sent: StudySent, kind: str) -> Job:
    if not isinstance(TASK_TYPES[request.campaign.task_type], Extractive):
        raise Refused(409, "study_task_type", "This task type has no studies of this kind.")
    form = StudyForm(request.campaign, sent.dict())
    checked(form)
    return job_queued(request, kind, StudyPayload(campaign=str(request.campaign.pk), design=asdict(form.design())))
