"""Waiting until everyone is paid: a replay compares the books once the marketplace holds nothing any more."""

import time

import pytest
from django.utils import timezone

from replays.settling import Stuck, settle
from tests import factories
from workforces.models import Posting, PostingState
from workforces.services.workforces import workforce_add

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("state", PostingState.values)
def test_every_posting_has_to_be_settled(state):
    campaign, now = factories.antique(items=1, n=1), timezone.now()
    terms = {"qualification": "own"}
    workforce = workforce_add(campaign=campaign, kind="mturk", terms=terms, actor_id=None, now=now)
    Posting.objects.create(
        workforce=workforce, number=1, places=9, terms=workforce.terms, wanted_at=now, touched_at=now, state=state
    )
    if state == PostingState.SETTLED:
        settle(campaign, time.monotonic())
    else:
        with pytest.raises(Stuck, match="0 tickets, 0 errands and 1 postings"):
            settle(campaign, time.monotonic())
