"""The jobs of the evaluation app."""

from typing import Any
from uuid import UUID

from django.utils import timezone

from annotation.models import Campaign
from evaluation.payloads import PredictionsPayload, PredictionsSamplePayload, SystemsPayload
from evaluation.predicted.services import (
    MOST_BYTES,
    RECALL,
    SAMPLE,
    cases_without_system_recall,
    predictions_import,
    predictions_sample,
)
from evaluation.rectified.services import systems_import
from evaluation.release_scores import JOB, release_score
from evaluation.services import submission_score
from evaluation.system_scores import KIND, scores_refresh
from jobs.payloads import CampaignPayload
from jobs.registry import JobKind, Lane
from jobs.uploads import opened, upload_forget
from jobs.work import Work
from storage.tables.rows import read_rows
from storage.tables.used import ColumnsUsed


def systems(work: Work) -> dict[str, Any]:
    """Add systems from an upload."""
    asked = work.payload_as(SystemsPayload)
    campaign = Campaign.objects.get(pk=UUID(asked["campaign"]))
    with opened(asked) as file:
        rows, used = read_rows(file, asked["name"]), ColumnsUsed()
        return systems_import(
            work=work,
            campaign=campaign,
            rows=used.watched(rows),
            count=asked["count"],
            notes=lambda: [*rows.reading.said(), *used.unused(rows.reading.columns)],
        )


def predictions(work: Work) -> dict[str, Any]:
    """Add a system by its uploaded predictions."""
    asked = work.payload_as(PredictionsPayload)
    with opened(asked) as file:
        content = file.read(MOST_BYTES + 1)
    return predictions_import(
        work=work,
        campaign=Campaign.objects.get(pk=UUID(asked["campaign"])),
        content=content,
        file_name=asked["name"],
        system=asked["system"],
        least_long=asked.get("least_long"),
        least_short=asked.get("least_short"),
    )


def sample_predictions(work: Work) -> dict[str, Any]:
    """Send a random sample of systems' answers to experts."""
    asked = work.payload_as(PredictionsSamplePayload)
    campaign = Campaign.objects.get(pk=UUID(asked["campaign"]))
    return predictions_sample(work=work, campaign=campaign, count=asked["count"], experts=asked["experts"])


def recall_cases(work: Work) -> dict[str, Any]:
    """Recall the cases whose systems were removed."""
    campaign = Campaign.objects.get(pk=UUID(work.payload_as(CampaignPayload)["campaign"]))
    return cases_without_system_recall(work=work, campaign=campaign)


def system_scores(work: Work) -> dict[str, Any]:
    """Compute the scores of systems."""
    campaign = Campaign.objects.get(pk=UUID(work.payload_as(CampaignPayload)["campaign"]))
    scores_refresh(campaign=campaign, now=timezone.now())
    return {}


JOBS = [
    JobKind("evaluation.systems", systems, Lane.BULK, clean=upload_forget),
    JobKind("evaluation.predictions", predictions, Lane.BULK, clean=upload_forget),
    JobKind(SAMPLE, sample_predictions, Lane.BULK),
    JobKind(RECALL, recall_cases, Lane.BULK),
    JobKind(KIND, system_scores, Lane.BULK),
    JobKind("evaluation.score", submission_score, Lane.BULK, clean=upload_forget, action="see_releases"),
    JobKind(JOB, release_score, Lane.BULK, clean=upload_forget, action="release"),
]
