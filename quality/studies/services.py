"""Planning and starting studies of a campaign, and computing them periodically."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.utils import timezone

from annotation.campaigns.selectors.sealing import sealed_names
from annotation.campaigns.services.numbers import numbers_keep, refresh_request
from annotation.models import Campaign, Split
from annotation.slots.services.slots import items_extend
from jobs.models import Job
from jobs.work import Work
from quality.dashboard.services import quality_numbers_version
from quality.models import StudySnapshot
from quality.studies.selectors.designs import StudyDesign, obstacles_of, study_needs
from quality.studies.selectors.studies import studies_of

STALE_MINUTES = 10


def studies_refresh(*, campaign: Campaign, now: datetime) -> None:
    """Compute and store the studies."""
    sealed, version = sealed_names(campaign), quality_numbers_version(campaign)
    numbers_keep(
        StudySnapshot, campaign=campaign, sealed=sealed, taken_at=now, version=version, data=studies_of(campaign)
    )


def studies_request(*, campaign: Campaign, now: datetime) -> Job | None:
    """Queue a new computation of the studies if something changed, at most every ten minutes."""
    return refresh_request(
        kind="quality.studies",
        kept=StudySnapshot.objects.all(),
        version=quality_numbers_version,
        seconds=60 * STALE_MINUTES,
        campaign=campaign,
        now=now,
    )


def study_needs_found(*, campaign: Campaign, design: StudyDesign) -> dict[str, Any]:
    """Return the requirements of a study as JSON, without changing anything."""
    return asdict(study_needs(campaign, design))


def study_begin(*, work: Work, campaign: Campaign, design: StudyDesign) -> dict[str, Any]:
    """Request the further annotations of a study; calling it after an interruption adds the missing ones.

    Raises
    ------
    StudyError
        The study isn't possible; the message gives the reason.
    """
    obstacles = obstacles_of(design, study_needs(campaign, design))
    if obstacles:
        raise obstacles[0]
    split = Split.objects.get(campaign=campaign, name=design.split)
    extended = items_extend(
        campaign=campaign,
        split=split,
        n=design.ways,
        sample=design.sample,
        seed=design.seed,
        actor_id=work.job.requested_by_id,
        now=timezone.now(),
        step=work.step,
    )
    return {"items": extended}
