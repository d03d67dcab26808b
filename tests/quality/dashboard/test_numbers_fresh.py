"""Numbers are asked for again whenever something that they count has changed."""

import pytest

from quality.dashboard.services import quality_numbers_version
from quality.models import Inspection
from quality.policies.policy import Policy
from tests import factories

pytestmark = pytest.mark.django_db


def test_an_inspection_that_was_drawn_after_the_numbers_makes_them_old():
    """One vote of three decides nothing: the inspection is all that the examination brings."""
    campaign = factories.antique(items=2, n=3, policy=Policy(inspection_rate=1.0))
    factories.vote(campaign, factories.annotator(campaign), 3)
    before = quality_numbers_version(campaign)
    assert not Inspection.objects.exists()
    factories.examine(campaign)
    assert Inspection.objects.count() == 1
    assert quality_numbers_version(campaign) != before
