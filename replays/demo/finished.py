"""The finished campaigns of the demo: archives in the repository, and the code that creates them."""

from datetime import datetime
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.campaigns.services.campaigns import campaign_move
from annotation.models import Campaign, CampaignState
from console.archives.reading import archive_read
from console.archives.writing import archive_write
from replays.demo import panel, seed
from workforces.models import new_token

HERE = Path(__file__).parent / "finished"
MAKERS = {seed.DONE_SLUG: seed.make_finished, panel.SLUG: panel.make_panel}


def load_finished(*, now: datetime) -> None:
    """Load the finished campaigns that are missing, dated as if they had been created today.

    Load them before creating any other campaign, because their rows keep their primary keys.
    """
    for slug in MAKERS:
        if not Campaign.objects.filter(slug=slug).exists():
            _load(slug, now)


@transaction.atomic  # a demo that is killed in between has no campaign with the secrets of the archive
def _load(slug: str, now: datetime) -> None:
    with archive_of(slug).open("rb") as stream:
        archive_read(stream, now=now, beside_others=True)
    campaign = Campaign.objects.get(slug=slug)
    for row in campaign.workforces.all():  # everyone who has the code knows the archived ones
        row.key, row.secret = new_token(), new_token()
        row.save(update_fields=["key", "secret"])
    if campaign.state == CampaignState.PAUSED:  # experts still have something to judge
        campaign_move(campaign=campaign, to=CampaignState.OPEN, actor_id=None, now=now)


def write_finished(*, stderr: Any) -> None:
    """Create the finished campaigns in an empty installation, and write their archives."""
    seed.seed_people()
    for make in MAKERS.values():
        make(now=timezone.now(), stderr=stderr)
    HERE.mkdir(exist_ok=True)
    for slug in MAKERS:  # after all of them were made: no two rows have one key
        campaign = Campaign.objects.get(slug=slug)
        if campaign.state == CampaignState.OPEN:
            campaign_move(campaign=campaign, to=CampaignState.PAUSED, actor_id=None, now=timezone.now())
        with archive_of(slug).open("wb") as stream:
            archive_write(campaign, stream, now=timezone.now())


def archive_of(slug: str) -> Path:
    """Return the path of a finished campaign's archive."""
    return HERE / f"{slug}.tar"
