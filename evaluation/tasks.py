"""The jobs of the evaluation app."""

from evaluation.release_scores import JOB, release_score
from evaluation.services import submission_score
from jobs.registry import JobKind, Lane
from jobs.uploads import upload_forget

JOBS = [
    JobKind("evaluation.score", submission_score, Lane.BULK, clean=upload_forget, action="see_releases"),
    JobKind(JOB, release_score, Lane.BULK, clean=upload_forget, action="release"),
]
