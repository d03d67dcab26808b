"""Campaigns at a real marketplace: post, work in the frame, submit, match, pay."""

import pytest

from annotation.models import Annotation
from quality.models import Verdict
from tests import factories
from workforces.models import LedgerEntry, Posting, Ticket

pytestmark = pytest.mark.django_db(transaction=True)
CALLS_IN_FLIGHT = 4  # as an installation has it


def test_three_workers_label_what_was_posted_and_are_paid(desk):
    made = desk(items=2, n=3)
    made.round()
    postings = Posting.objects.filter(workforce=made.workforce)
    assert [(posting.state, posting.places) for posting in postings] == [("open", 3)] * 2
    crowd = [made.worker(f"w{number}") for number in range(3)]
    for worker in crowd:
        assert worker.work() == "handed_in"
    assert Annotation.objects.filter(state="provisional").count() == 3
    made.round()
    assert Annotation.objects.filter(state="counted").count() == 3
    made.round()
    assert set(Ticket.objects.values_list("state", flat=True)) == {"approved"}
    assert LedgerEntry.objects.filter(kind="reward").count() == 3
    for worker in crowd:
        worker.work()
    for _ in range(3):
        made.round()
        for worker in crowd:
            worker.work()
    made.round()
    factories.examine(made.campaign)
    assert Verdict.objects.filter(superseded_at=None).count() == 2
    books = made.money()
    entries = LedgerEntry.objects.filter(workforce=made.workforce)
    assert books["paid"] == sum(entry.cents for entry in entries)
    assert books["fees"] == sum(entry.fee_cents for entry in entries)
