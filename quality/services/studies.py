"""Computing the studies of a campaign, now and then."""

from datetime import datetime

from annotation.models import Campaign
from annotation.services.numbers import refresh_request
from jobs.models import Job
from quality.models import StudySnapshot
from quality.selectors.studies import studies_of
from quality.services.numbers import quality_numbers_version

STALE_MINUTES = 10


def studies_refresh(*, campaign: Campaign, now: datetime) -> None:
    """Compute and keep the studies."""
    version = quality_numbers_version(campaign)
    StudySnapshot.objects.update_or_create(
        campaign=campaign, defaults={"taken_at": now, "version": version, "data": studies_of(campaign)}
    )


def studies_request(*, campaign: Campaign, now: datetime) -> Job | None:
    """Ask for them anew if something changed, but not within ten minutes."""
    return refresh_request(
        kind="quality.studies", kept=StudySnapshot.objects.all(), version=quality_numbers_version,
        seconds=60 * STALE_MINUTES, campaign=campaign, now=now,
    )  # fmt: skip
