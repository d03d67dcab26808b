"""The finished relevance campaign of the demo: complete, settled, and made once."""

import io

import pytest
from django.utils import timezone

from annotation.models import Annotation, Campaign, Participation
from console.demo.panel import PAIRS, SLUG, seed_panel
from console.demo.seed import seed_demo
from jobs.models import Job
from quality.models import Case, Inspection, QualitySnapshot, Review, Verdict

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


def test_the_demo_has_a_finished_relevance_campaign_with_nothing_left_to_do():
    now = timezone.now()
    seed_demo(now=now, stderr=io.StringIO())
    seed_panel(now=now, stderr=io.StringIO())
    campaign = Campaign.objects.get(slug=SLUG)
    assert (campaign.state, campaign.is_synthetic) == ("closed", True)
    rules = set(Verdict.objects.filter(campaign=campaign, superseded_at=None).values_list("rule", flat=True))
    assert Verdict.objects.filter(campaign=campaign, superseded_at=None).count() == PAIRS
    assert "majority" in rules and rules & {"second", "expert"}
    assert Participation.objects.filter(campaign=campaign, standing="suspended").exists()
    waiting = (
        Case.objects.filter(campaign=campaign, state__in=["open", "consensus"]),
        Inspection.objects.filter(campaign=campaign, verdict=""),
        Review.objects.filter(campaign=campaign, state="open"),
        Job.objects.exclude(state="done"),
    )
    assert [rows.count() for rows in waiting] == [0, 0, 0, 0]
    assert QualitySnapshot.objects.get(campaign=campaign).data["summary"]["suspended"] >= 1
    times = Annotation.objects.filter(campaign=campaign).order_by("submitted_at").values_list("submitted_at", flat=True)
    assert times[0] < times[len(times) - 1] <= now
    made = Annotation.objects.count()
    seed_panel(now=now, stderr=io.StringIO())
    assert Annotation.objects.count() == made
