"""Predictions scored on a release's page: the output of ``python -m evaluation``, run in a separate process.

The release's files are copied beside the predictions, so the page shows exactly the numbers that the command prints.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import IO, Any
from uuid import UUID, uuid4

from django.core.files.storage import default_storage, storages

from evaluation.boards.metrics import METRICS
from evaluation.files import EvaluationError
from exports.families import FAMILIES
from exports.formats.tells import Tells
from exports.models import Release, ReleaseState
from exports.selectors.sealing import closed_by
from jobs.models import Job
from jobs.payloads import FilePayload
from jobs.services import job_enqueue
from jobs.uploads import upload_path
from jobs.work import Work
from storage.child import child_end, child_start

JOB = "evaluation.score_release"
MOST_SECONDS = 600
MOST_SHOWN = 10
MOST_TOLD = 1000


class ScoreReleasePayload(FilePayload):
    """The payload of the job that scores predictions against a split of a release."""

    release: int
    split: str


@dataclass(frozen=True, slots=True)
class Scorer:
    """How predictions are scored against one kind of release content (`exports.formats.tells`).

    Attributes
    ----------
    kind
        The kind of ``python -m evaluation``.
    labels, predictions
        The command's options for the two files.
    files
        Patterns of the release's files that hold the labels of a split; the first pattern with a match is used.
    more
        Further arguments, derived from the release.
    """

    kind: str
    labels: str
    predictions: str
    files: tuple[str, ...]
    more: Callable[[Release], Sequence[str]] = lambda _release: ()


def _thresholds(release: Release) -> list[str]:
    """Return the options for the number of annotations that make an example answerable: 2, or 1 with one annotation."""
    least = str(min(2, release.ways))
    return ["--long-threshold", least, "--short-threshold", least]


SCORERS = {
    Tells.ANNOTATIONS: Scorer(
        "nq", "--gold", "--predictions", ("tables/annotations-{split}-*.parquet", "nq-{split}-*.jsonl.gz"), _thresholds
    ),
    Tells.QRELS: Scorer("relevance", "--qrels", "--run", ("antique-{split}.qrel",)),
    Tells.ANSWERS: Scorer("kbqa", "--gold", "--predictions", ("kbqa-{split}.txt",)),
    Tells.SENTENCES: Scorer("dbqa", "--pairs", "--scores", ("dbqa-{split}.tsv",)),
}


def scorer_of(release: Release) -> Scorer | None:
    """Return how predictions are scored against a release; None if they can't be scored."""
    return next((SCORERS[one] for one in FAMILIES[release.family].tells if one in SCORERS), None)


def predictions_help(release: Release) -> tuple[str, str]:
    """Return the expected form of a prediction file, with an example, if predictions can be scored."""
    told = [one for one in FAMILIES[release.family].tells if one in SCORERS]
    return next(((metric.file, metric.sample) for metric in METRICS.values() if metric.over in told), ("", ""))


def splits_scored(release: Release) -> list[str]:
    """Return the splits of a release that predictions can be scored against: those whose labels are in its files."""
    scorer = scorer_of(release)
    if scorer is None or release.state != ReleaseState.READY or closed_by(release):
        return []
    return [split for split in release.splits if split not in release.sealed and _files(release, scorer, split)]


def scores_of(release: Release) -> list[Job]:
    """Return the latest scoring jobs of a release, newest first."""
    rows = Job.objects.filter(kind=JOB, scope_id=release.campaign_id, payload__release=release.pk)
    return list(rows.order_by("-created_at")[:MOST_SHOWN])


def score_request(*, release: Release, split: str, file: IO[bytes], name: str, actor_id: UUID, now: datetime) -> Job:
    """Queue a job that scores a file of predictions."""
    stored = default_storage.save(f"{uuid4()}", file)
    return score_enqueue(release=release, split=split, stored=stored, name=name, actor_id=actor_id, now=now)


def score_enqueue(*, release: Release, split: str, stored: str, name: str, actor_id: UUID, now: datetime) -> Job:
    """Queue a job that scores a stored upload."""
    return job_enqueue(
        kind=JOB,
        payload=ScoreReleasePayload(release=release.pk, split=split, file=stored, name=name),
        now=now,
        scope_id=release.campaign_id,
        requested_by_id=actor_id,
    )


def release_score(work: Work) -> dict[str, Any]:
    """Score a prediction file; return the command's report as ``text``, or why it can't be scored as ``refused``."""
    asked = work.payload_as(ScoreReleasePayload)
    release = Release.objects.select_related("campaign").get(pk=asked["release"])
    try:
        return {"text": _scored(release, asked["split"], upload_path(asked), asked["name"])}
    except EvaluationError as error:
        return {"refused": str(error).replace("\0", "\\0")[:MOST_TOLD]}


def _scored(release: Release, split: str, predictions: Path, name: str) -> str:
    scorer = scorer_of(release)
    if scorer is None or split not in splits_scored(release):
        raise EvaluationError(f"{split}: the labels of this split aren't in the release")
    with tempfile.TemporaryDirectory() as folder:
        labels = [_copy(release, one, Path(folder)) for one in _files(release, scorer, split)]
        arguments = [scorer.kind, scorer.labels, *labels, scorer.predictions, str(predictions), *scorer.more(release)]
        try:
            return _run(arguments, name).replace(str(predictions), name)
        except EvaluationError as error:
            raise EvaluationError(str(error).replace(str(predictions), name).replace(f"{folder}/", "")) from error


def _run(arguments: Sequence[str], name: str) -> str:
    """Return the readable report that the command prints."""
    child = child_start("evaluation", *arguments, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        out, problem = child.communicate(timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise EvaluationError(f"{name}: takes more than {MOST_SECONDS} seconds to score") from error
    finally:
        child_end(child)
    if child.returncode == 0:
        return out.decode()
    said = problem.decode(errors="replace").strip()
    if child.returncode == 1 and said and "Traceback" not in said:
        raise EvaluationError(said)
    raise EvaluationError(f"{name}: can't be read, or needs more memory than allowed")


def _files(release: Release, scorer: Scorer, split: str) -> list[str]:
    """Return the names of the files of a release that hold the labels of a split."""
    names = sorted(release.manifest.get("files", {}))
    found = ([name for name in names if fnmatch(name, one.format(split=split))] for one in scorer.files)
    return next((some for some in found if some), [])


def _copy(release: Release, name: str, folder: Path) -> str:
    """Copy a file of a release to a folder of this machine; return its path."""
    path = folder / Path(name).name
    with storages["releases"].open(f"{release.folder}/{name}") as stored, path.open("wb") as copy:
        shutil.copyfileobj(stored, copy)
    return str(path)
