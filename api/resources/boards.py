"""Boards: systems scored against a release, and prediction files scored on request."""

from datetime import datetime
from typing import Any

from django.utils import timezone
from ninja import Field, Query, Router

from accounts.permissions import Action
from api.http.checks import Reply, Sent
from api.http.operations import ApiRequest, operation
from api.http.paging import FieldsQuery, Page, PageQuery, page_of
from api.http.problems import invalid
from api.http.rows import row_of
from api.models import TokenScope
from api.resources.jobs import JobReply, job_named
from api.resources.uploads import UploadQuery
from evaluation.models import Board, Submission, TeamMember
from evaluation.release_scores import score_enqueue, splits_scored
from evaluation.services import board_create, submission_add, team_enter
from exports.models import Release
from jobs.models import Job

router = Router()
# A prediction file has any form; the metric reads it.
FILES = (
    "application/octet-stream",
    "application/json",
    "application/x-ndjson",
    "text/plain",
    "text/csv",
    "application/gzip",
)


class BoardReply(Reply):
    """A leaderboard."""

    number: int
    release: int = Field(validation_alias="release.number")
    split: str
    metric: str
    step: float
    a_day: int = Field(description="The number of submissions per team and day.")
    is_sealed: bool
    created_at: datetime


class BoardSent(Sent):
    """A board to create."""

    release: int = Field(ge=1, lt=2**31)
    split: str
    metric: str
    step: float = 0.01
    a_day: int = 3


class TeamSent(Sent):
    """A team to create, or to join with its code."""

    name: str = Field(min_length=1, max_length=60)
    code: str = Field("", max_length=20)


class TeamReply(Reply):
    """Your team."""

    name: str
    code: str


class SubmissionReply(Reply):
    """A submission of your team. The score is null while it isn't shown."""

    id: int = Field(validation_alias="pk")
    system: str
    state: str
    score: float | None
    error: str
    sha256: str
    created_at: datetime


class SubmissionQuery(UploadQuery):
    """The parameters of a submission."""

    system: str = Field(min_length=1, max_length=100)
    name: str = Field("predictions", max_length=200, description="The name of the file.")
    threshold: float | None = Field(None, allow_inf_nan=False, description="For F1: the least score of an answer.")


class ScoreQuery(UploadQuery):
    """The parameters of scoring a file against a release."""

    split: str = Field(max_length=200)
    name: str = Field("predictions", max_length=200, description="The name of the file.")


def _board(request: ApiRequest, number: int) -> Board:
    return row_of(
        Board.objects.filter(campaign=request.campaign).select_related("release__campaign", "campaign"), number=number
    )


@operation(router, "GET", "/campaigns/{campaign}/boards", Page[BoardReply], action=Action.SEE_RELEASES)
def board_list(request: ApiRequest, campaign: str, asked: Query[PageQuery]) -> Any:
    """List the leaderboards of a campaign."""
    return page_of(request, Board.objects.filter(campaign=request.campaign).select_related("release"), asked)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/boards",
    BoardReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
    status=201,
)
def board_new(request: ApiRequest, campaign: str, sent: BoardSent) -> Board:
    """Create a leaderboard for a split of a release."""
    rows = Release.objects.select_related("campaign").filter(campaign=request.campaign, state="ready")
    release = rows.filter(number=sent.release).first()
    if release is None:
        raise invalid([{"field": "release", "detail": "There is no such release, or it isn't ready."}])
    return board_create(
        release=release,
        split=sent.split,
        metric=sent.metric,
        step=sent.step,
        a_day=sent.a_day,
        actor_id=request.user.surrogate_id,
        now=timezone.now(),
    )


@operation(router, "GET", "/campaigns/{campaign}/boards/{int:number}", BoardReply, action=Action.SEE_RELEASES)
def board_read(request: ApiRequest, campaign: str, number: int, asked: Query[FieldsQuery]) -> Board:
    """Return a leaderboard."""
    return _board(request, number)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/boards/{int:number}/team",
    TeamReply,
    action=Action.SEE_RELEASES,
    scope=TokenScope.RELEASE,
)
def team_new(request: ApiRequest, campaign: str, number: int, sent: TeamSent) -> Any:
    """Enter a leaderboard: create a team, or join one with its code."""
    return team_enter(
        board=_board(request, number),
        name=sent.name,
        code=sent.code,
        surrogate_id=request.user.surrogate_id,
        now=timezone.now(),
    )


@operation(
    router,
    "GET",
    "/campaigns/{campaign}/boards/{int:number}/submissions",
    Page[SubmissionReply],
    action=Action.SEE_RELEASES,
)
def submission_list(request: ApiRequest, campaign: str, number: int, asked: Query[PageQuery]) -> Any:
    """List the submissions of your team, newest first."""
    own = TeamMember.objects.filter(board=_board(request, number), surrogate_id=request.user.surrogate_id)
    return page_of(request, Submission.objects.filter(team__in=own.values("team")), asked, newest_first=True)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/boards/{int:number}/submissions",
    SubmissionReply,
    action=Action.SEE_RELEASES,
    scope=TokenScope.RELEASE,
    status=202,
    uploads=FILES,
)
def submission_new(request: ApiRequest, campaign: str, number: int, asked: Query[SubmissionQuery]) -> Any:
    """Submit a file of predictions, within the team's limit. It is scored by a job."""
    board, options = _board(request, number), {}
    if board.metric.endswith("-f1"):
        if asked.threshold is None:
            raise invalid([{"field": "threshold", "detail": "This metric needs a threshold."}])
        options = {"threshold": asked.threshold}
    with request.received.open() as file:
        return submission_add(
            board=board,
            file=file,
            name=asked.name,
            system=asked.system,
            options=options,
            surrogate_id=request.user.surrogate_id,
            now=timezone.now(),
        )


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/releases/{int:number}/scores",
    JobReply,
    action=Action.RELEASE,
    scope=TokenScope.RELEASE,
    status=202,
    uploads=FILES,
)
def score_new(request: ApiRequest, campaign: str, number: int, asked: Query[ScoreQuery]) -> Job:
    """Score predictions against a split of a release. The job's `result` has the report."""
    rows = Release.objects.select_related("campaign").filter(campaign=request.campaign)
    release = row_of(rows, number=number)
    if asked.split not in (splits := splits_scored(release)):
        raise invalid([{"field": "split", "detail": f"Can be scored: {', '.join(splits) or 'none'}."}])
    job = score_enqueue(
        release=release,
        split=asked.split,
        stored=request.received.take(),
        name=asked.name,
        actor_id=request.user.surrogate_id,
        now=timezone.now(),
    )
    return job_named(request, job)
