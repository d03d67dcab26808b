"""Create boards, enter teams, accept submissions and score them."""

import array
import hashlib
import math
import zlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import IO, Any
from uuid import UUID, uuid4

import orjson
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Max, Q

from accounts.audit import record
from annotation.locks import campaign_lock
from evaluation.boards.child import score_apart
from evaluation.boards.gold import gold_of, metrics_of
from evaluation.boards.ladder import LEAST_STEP, LEAST_UNITS, Scored, shown_score
from evaluation.files import EvaluationError
from evaluation.models import Board, Submission, SubmissionState, Team, TeamMember
from exports.models import Release
from exports.selectors.sealing import closed_by
from jobs.models import JobState
from jobs.payloads import FilePayload
from jobs.services import job_enqueue
from jobs.uploads import upload_path
from jobs.work import Work
from web.errors import KeyedError

MOST_BYTES = 100 * 2**20
MOST_ERROR = 1000
PIECE = 2**20


class ScorePayload(FilePayload):
    """The payload of the job that scores a submission."""

    submission: int


class BoardError(KeyedError):
    """A board, team or submission cannot be created as requested; the message gives the reason."""


def board_create(
    *, release: Release, split: str, metric: str, step: float, a_day: int, actor_id: UUID | None, now: datetime
) -> Board:
    """Create a board for a split of a release.

    Raises
    ------
    BoardError
        The release can't be scored by this metric, the step is invalid, or the board exists already.
    """
    if split not in release.splits or metric not in metrics_of(release):
        raise BoardError("board_split", release=release.number, split=split, metric=metric)
    if not LEAST_STEP <= step <= 0.5 or abs(1 / step - round(1 / step)) > 1e-9 or not 1 <= a_day <= 100:
        raise BoardError("board_step", least=str(LEAST_STEP))
    with transaction.atomic():
        campaign_lock(release.campaign)
        if closed_by(release):
            raise BoardError("board_release_tells", release=release.number)
        is_sealed = split in release.sealed
        boards = Board.objects.filter(campaign=release.campaign, split=split, metric=metric)
        if boards.filter(Q(release=release) | Q(is_sealed=True) if is_sealed else Q(release=release)).exists():
            raise BoardError("board_exists")
        if _units(release, split) < LEAST_UNITS:
            raise BoardError("board_too_small", split=split, least=LEAST_UNITS, release=release.number)
        last = Board.objects.filter(campaign=release.campaign).aggregate(last=Max("number"))["last"] or 0
        board = Board.objects.create(
            campaign=release.campaign,
            release=release,
            number=last + 1,
            split=split,
            metric=metric,
            step=step,
            a_day=a_day,
            is_sealed=is_sealed,
            created_at=now,
        )
        record(
            action="board_create",
            subject=board,
            now=now,
            actor_id=actor_id,
            scope_id=release.campaign_id,
            split=split,
            metric=metric,
            step=step,
        )
    return board


def _units(release: Release, split: str) -> int:
    """Return the number of items of a split that systems can be scored against."""
    return (
        release.members.filter(item__split__name=split, item__follows=None, rank=0).count()
        or release.verdicts.filter(item__split__name=split).count()
    )


def team_enter(*, board: Board, name: str, code: str, surrogate_id: UUID, now: datetime) -> Team:
    """Create a team, or join one with the code that its members know.

    Raises
    ------
    BoardError
        The person is in a team already, the name is taken, or the code is wrong.
    """
    with transaction.atomic():
        campaign_lock(board.campaign)
        if TeamMember.objects.filter(board=board, surrogate_id=surrogate_id).exists():
            raise BoardError("team_joined")
        team = Team.objects.filter(board=board, name=name).first()
        if team is not None and team.code != code.strip():
            raise BoardError("team_name_taken")
        team = team or Team.objects.create(board=board, name=name)
        TeamMember.objects.create(board=board, team=team, surrogate_id=surrogate_id)
        record(
            action="team_enter",
            subject=team,
            now=now,
            actor_id=surrogate_id,
            scope_id=board.campaign_id,
            board=board.number,
        )
    return team


def submission_add(
    *, board: Board, file: IO[bytes], name: str, system: str, options: dict[str, Any], surrogate_id: UUID, now: datetime
) -> Submission:
    """Accept a file of predictions within the team's limits and queue a job that scores it.

    Raises
    ------
    BoardError
        The person isn't in a team, the file is too large or empty, or the team has used its submissions of 24 hours.
    """
    if closed_by(board.release):
        raise BoardError("board_closed")
    size, digest = _measured(file)
    if not 0 < size <= MOST_BYTES:
        raise BoardError("submission_size", most=MOST_BYTES)
    stored = default_storage.save(f"{uuid4()}", file)
    try:
        with transaction.atomic():
            campaign_lock(board.campaign)
            team = _team_with_room(board, surrogate_id, now)
            made = Submission.objects.create(
                board=board,
                team=team,
                submitted_by_id=surrogate_id,
                system=system,
                sha256=digest,
                options=options,
                created_at=now,
            )
            made.job = job_enqueue(
                kind="evaluation.score",
                payload=ScorePayload(submission=made.pk, file=stored, name=name),
                now=now,
                scope_id=board.campaign_id,
                requested_by_id=surrogate_id,
            )
            made.save(update_fields=["job"])
            record(
                action="submission_add",
                subject=made,
                now=now,
                actor_id=surrogate_id,
                scope_id=board.campaign_id,
                board=board.number,
                sha256=digest,
            )
    except BaseException:
        default_storage.delete(stored)
        raise
    return made


def _measured(file: IO[bytes]) -> tuple[int, str]:
    found, size = hashlib.sha256(), 0
    file.seek(0)
    while piece := file.read(PIECE):
        found.update(piece)
        size += len(piece)
    file.seek(0)
    return size, found.hexdigest()


def _team_with_room(board: Board, surrogate_id: UUID, now: datetime) -> Team:
    member = TeamMember.objects.select_related("team").filter(board=board, surrogate_id=surrogate_id).first()
    if member is None:
        raise BoardError("team_missing")
    lately = Submission.objects.filter(team=member.team, created_at__gt=now - timedelta(days=1))
    lately = lately.exclude(state=SubmissionState.REFUSED)
    lately = lately.exclude(state=SubmissionState.WAITING, job__state=JobState.FAILED)
    if lately.count() >= board.a_day:
        raise BoardError("submissions_used", times=board.a_day)
    return member.team


def submission_score(work: Work) -> dict[str, Any]:
    """Score a submission. Submissions are scored one after another, since the score shown depends on earlier ones."""
    asked = work.payload_as(ScorePayload)
    submission = Submission.objects.select_related("board__release__campaign", "board__campaign", "team").get(
        pk=asked["submission"]
    )
    if submission.state != SubmissionState.WAITING:
        return {}
    board = submission.board
    try:
        scored, floor = score_apart(
            board.metric,
            gold=orjson.dumps(gold_of(board)),
            predictions=upload_path(asked),
            name=asked["name"],
            options=submission.options,
        )
    except EvaluationError as error:
        told = str(error).replace("\0", "\\0")[:MOST_ERROR]  # PostgreSQL keeps no NUL
        with work.step():
            _end(submission, state=SubmissionState.REFUSED, error=told)
        return {}
    with work.step():
        campaign_lock(board.campaign)
        _decide(submission, scored, floor)
    return {}


def _decide(submission: Submission, scored: Scored, floor: Scored) -> None:
    """Decide which score of a submission is shown, and save it."""
    board = submission.board
    against = Submission.objects.filter(
        board__campaign=board.campaign_id, board__split=board.split, attempt__isnull=False
    )
    attempt = against.count() + 1  # over all boards of these labels: another metric or release is no other secret
    if closed_by(board.release):  # it waited while the split was sealed
        _end(submission, state=SubmissionState.REFUSED, error="the split of this board was sealed meanwhile")
        return
    if not board.is_sealed:
        _end(submission, state=SubmissionState.SHOWN, attempt=attempt, score=scored.score, exact=scored.score)
        return
    # The best over all teams: each team that began again from the floor would learn a score.
    last = board.submissions.filter(state=SubmissionState.SHOWN, values__isnull=False).order_by("-attempt").first()
    best = floor if last is None else _unpacked(last.values)
    shown = shown_score(best, scored, step=board.step, attempt=attempt)
    if shown is None:
        _end(submission, state=SubmissionState.NOT_SHOWN, attempt=attempt, exact=scored.score)
        return
    board.submissions.exclude(values=None).update(values=None)
    _end(
        submission,
        state=SubmissionState.SHOWN,
        attempt=attempt,
        score=shown,
        exact=scored.score,
        values=_packed(scored),
    )


def _end(submission: Submission, **changes: Any) -> None:
    Submission.objects.filter(pk=submission.pk, state=SubmissionState.WAITING).update(**changes)


def _packed(scored: Scored) -> bytes:
    """Return the bytes to store: since bounds are stored, they begin with a nan."""
    head = [math.nan, scored.score, scored.low, scored.high, float(scored.is_binary)]
    return zlib.compress(array.array("d", [*head, *scored.values]).tobytes())


def _unpacked(data: bytes | memoryview | None) -> Scored:
    numbers: Sequence[float] = array.array("d", zlib.decompress(bytes(data or b"")))
    if not math.isnan(numbers[0]):
        return Scored(numbers[0], numbers[1:], min(0.0, *numbers[1:]), max(1.0, *numbers[1:]))
    _nan, score, low, high, is_binary = numbers[:5]
    return Scored(score, numbers[5:], low, high, bool(is_binary))
