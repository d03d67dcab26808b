"""The stored scores of a campaign's systems: in human terms where people judge answers, against annotators on pages."""

from datetime import datetime

from annotation.campaigns.selectors.sealing import sealed_names
from annotation.campaigns.services.numbers import numbers_keep, refresh_request
from annotation.models import Campaign
from annotation.tasktypes.base import Extractive, Judging
from annotation.tasktypes.registry import TASK_TYPES
from evaluation.models import SystemScores
from evaluation.predicted.selectors import predictions_scored
from evaluation.rectified.selectors import scores_of
from jobs.models import Job
from quality.dashboard.services import quality_numbers_version

KIND, STALE_SECONDS = "evaluation.system_scores", 2


def has_systems(campaign: Campaign) -> bool:
    """Return whether systems can be compared in a campaign."""
    return isinstance(TASK_TYPES[campaign.task_type], Judging | Extractive)


def scores_request(*, campaign: Campaign, now: datetime) -> Job | None:
    """Queue a job that computes the scores, if anything changed."""
    return refresh_request(
        kind=KIND,
        kept=SystemScores.objects.all(),
        version=quality_numbers_version,
        seconds=STALE_SECONDS,
        campaign=campaign,
        now=now,
    )


def scores_refresh(*, campaign: Campaign, now: datetime) -> None:
    """Compute and store the scores of systems."""
    sealed, version = sealed_names(campaign), quality_numbers_version(campaign)
    is_judging = isinstance(TASK_TYPES[campaign.task_type], Judging)
    data = {**(scores_of if is_judging else predictions_scored)(campaign), "sealed": sealed}
    numbers_keep(SystemScores, campaign=campaign, sealed=sealed, taken_at=now, version=version, data=data)


def scores_shown(campaign: Campaign) -> SystemScores | None:
    """Return the stored scores, if they tell no sealed label.

    Those from before a split was sealed may. Where people judge answers, all systems answer the questions of all splits.
    """
    found, sealed = SystemScores.objects.filter(campaign=campaign).first(), sealed_names(campaign)
    if found is None or found.data.get("sealed", []) != sealed:
        return None
    return None if sealed and isinstance(TASK_TYPES[campaign.task_type], Judging) else found
