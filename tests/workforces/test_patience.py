"""What waits at a marketplace, and what is asked of it seldom."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from annotation.models import Annotation
from workforces.models import Errand, Posting, Ticket, Workforce
from workforces.services import pulls
from workforces.services.messages import person_message


def test_a_notice_waits_until_the_marketplace_lets_us_notify(desk):
    """It refuses to notify whom nothing was decided about; the notice used to fail for good."""
    made = desk(items=1, n=1, terms={"approve_after_seconds": 3600})
    made.round()
    made.worker("a").work()
    made.round()
    ticket = Ticket.objects.get(state="submitted")
    with transaction.atomic():
        person_message(campaign=made.campaign, surrogate_id=ticket.surrogate_id, text="A warning.", token="w", now=timezone.now())  # fmt: skip
    made.round()
    assert Errand.objects.get(kind="notify").state == "due"
    Workforce.objects.update(terms={**made.workforce.terms, "approve_after_seconds": 0})
    Posting.objects.update(terms={})
    for _ in range(4):
        made.round()
    assert Ticket.objects.get(pk=ticket.pk).state == "approved"
    assert Errand.objects.get(kind="notify").state == "confirmed"


def test_postings_of_which_nobody_answered_are_read_seldom(desk, settings, monkeypatch):
    made = desk(items=4, n=1)
    made.round()
    settings.MTURK_PULL_SECONDS = 0.001
    read = []
    whole = pulls._pull
    monkeypatch.setattr(pulls, "_pull", lambda work, market, posting, began: read.append(posting.pk) or whole(work, market, posting, began))  # fmt: skip
    made.round()  # once, since they are new
    first = set(read)
    read.clear()
    settings.MTURK_PULL_SECONDS = 3600 / pulls.QUIET
    made.worker("a").work()
    Posting.objects.update(tried_at=timezone.now() - timedelta(seconds=3599 / pulls.QUIET * 2))
    made.round()
    assert len(first) == 4
    assert read == [Ticket.objects.get().posting_id]
    assert Annotation.objects.get().state == "counted"
    read.clear()
    Posting.objects.update(tried_at=timezone.now() - timedelta(seconds=3601))
    made.round()
    assert set(read) == set(Posting.objects.exclude(state="settled").values_list("pk", flat=True))
