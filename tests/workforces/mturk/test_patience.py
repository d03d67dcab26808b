"""What waits at a marketplace, and what is asked of it seldom."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from annotation.models import Annotation
from workforces.kinds.mturk import postings, pulls
from workforces.kinds.mturk.client import Market
from workforces.models import Errand, Posting, Ticket, Workforce
from workforces.services.messages import person_message

CALLS_IN_FLIGHT = 4  # as an installation has it


def test_a_notice_waits_until_the_marketplace_lets_us_notify(desk):
    """It refuses to notify whom nothing was decided about; the notice used to fail for good."""
    made = desk(items=1, n=1, terms={"approve_after_seconds": 3600})
    made.round()
    made.worker("a").work()
    made.round()
    ticket = Ticket.objects.get(state="submitted")
    with transaction.atomic():
        person_message(
            campaign=made.campaign, surrogate_id=ticket.surrogate_id, text="A warning.", token="w", now=timezone.now()
        )
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
    monkeypatch.setattr(
        pulls,
        "_pull",
        lambda work, market, posting, began: read.append(posting.pk) or whole(work, market, posting, began),
    )
    made.round()  # once, since they are new
    first = set(read)
    read.clear()
    settings.MTURK_PULL_SECONDS = 3600 / pulls.QUIET
    made.worker("a").work()
    Posting.objects.update(tried_at=timezone.now() - timedelta(seconds=3599 / pulls.QUIET * 2))
    made.round()
    assert (len(first), read) == (4, [])  # its form may be on its way
    Ticket.objects.update(answered_at=timezone.now() - timedelta(seconds=3600 / pulls.QUIET + 1))
    made.round()
    assert read == [Ticket.objects.get().posting_id]
    assert Annotation.objects.get().state == "counted"
    read.clear()
    Posting.objects.update(tried_at=timezone.now() - timedelta(seconds=3601))
    made.round()
    assert set(read) == first - {Ticket.objects.get().posting_id}  # all of that one is known and decided


def test_postings_with_an_answer_are_read_before_the_others_and_keep_none_of_them_waiting(desk, settings):
    """At three requests a second, thousands of postings that nobody answered made a confirmation wait for all of them."""
    made = desk(items=9, n=1)
    made.round()
    settings.MTURK_PULL_SECONDS = 1.0
    worker = made.worker("a")
    for _ in range(6):
        worker.work()
    now = timezone.now()
    answered = list(Ticket.objects.filter(state="answered").order_by("posting").values_list("posting", flat=True))
    others = list(Posting.objects.exclude(pk__in=answered).order_by("pk").values_list("pk", flat=True))
    Ticket.objects.update(answered_at=now - timedelta(seconds=1.5))
    Posting.objects.filter(pk__in=answered).update(tried_at=now - timedelta(seconds=2))
    Posting.objects.filter(pk__in=others).update(tried_at=now - timedelta(hours=1))
    read = [posting.pk for posting in pulls._due_in_turns(made.workforce)]
    assert (len(answered), len(others)) == (6, 3)
    assert read == [*answered[:5], others[0], answered[5], *others[1:]]


def test_postings_whose_pay_is_not_decided_are_not_read_over_and_over(desk, settings, monkeypatch):
    made = desk(items=2, n=1, terms={"approve_after_seconds": 3600})
    made.round()
    worker = made.worker("a")
    assert [worker.work() for _ in range(2)] == ["handed_in", "handed_in"]
    made.round()
    made.round()
    assert set(Posting.objects.values_list("state", flat=True)) == {"ended"}
    settings.MTURK_PULL_SECONDS = 360.0
    Posting.objects.update(tried_at=timezone.now() - timedelta(seconds=360 * pulls.UNPAID - 60))
    read, whole = [], pulls._pull
    monkeypatch.setattr(
        pulls,
        "_pull",
        lambda work, market, posting, began: read.append(posting.pk) or whole(work, market, posting, began),
    )
    made.round()
    assert read == []
    Posting.objects.update(tried_at=timezone.now() - timedelta(seconds=360 * pulls.UNPAID + 60))
    made.round()  # what happened without us is learned all the same
    assert len(read) == 2
    read.clear()
    Posting.objects.update(pulled_at=None, tried_at=timezone.now() - timedelta(seconds=360 * pulls.QUIET + 60))
    made.round()  # nor does anything wait for hours that could not be taken in
    assert len(read) == 2
    Workforce.objects.update(terms={**made.workforce.terms, "approve_after_seconds": 0})
    for _ in range(2):
        made.round()
    Posting.objects.update(tried_at=timezone.now() - timedelta(seconds=400))
    made.round()
    assert set(Posting.objects.values_list("state", flat=True)) == {"settled"}


def test_a_campaign_goes_on_as_soon_as_what_is_posted_was_taken(desk, monkeypatch):
    """What nobody can take any more kept a place for hours: two hundred postings were all that such a time brought."""
    monkeypatch.setattr(postings, "MOST_OPEN_POSTINGS", 2)
    made = desk(items=5, n=1)
    made.round()
    assert Posting.objects.filter(state="open").count() == 2
    worker = made.worker("a")
    assert [worker.work() for _ in range(3)] == ["handed_in", "handed_in", "nothing"]
    made.round()
    made.round()
    assert Posting.objects.filter(state="open").count() == 2
    assert not Errand.objects.filter(kind="expire").exists()  # nobody has to be told
    assert [worker.work() for _ in range(2)] == ["handed_in", "handed_in"]
    for _ in range(4):
        made.round()
    assert Posting.objects.filter(state="settled").count() == 4
    assert worker.work() == "handed_in"


def test_what_is_in_work_is_not_taken_for_finished(desk):
    made = desk(items=2, n=1)
    made.round()
    taken = made.worker("a").take()
    made.round()
    assert taken is not None
    assert Posting.objects.filter(state="open").count() == 2


def test_a_posting_is_read_when_all_of_its_places_are_answered_or_one_answer_waited_longer(desk, settings):
    made = desk(items=1, n=3)
    made.round()
    settings.MTURK_PULL_SECONDS = 60.0
    for name in "ab":
        made.worker(name).work()
    posting, now = Posting.objects.get(), timezone.now()
    Posting.objects.update(tried_at=now - timedelta(seconds=70))

    def is_read(*, answered_seconds_ago):
        Ticket.objects.update(answered_at=now - timedelta(seconds=answered_seconds_ago))
        return [one.pk for one in pulls._due_in_turns(made.workforce)] == [posting.pk]

    assert not is_read(answered_seconds_ago=70)
    assert is_read(answered_seconds_ago=60 * pulls.PARTLY + 10)
    made.worker("c").work()
    assert is_read(answered_seconds_ago=70)
    assert not is_read(answered_seconds_ago=50)


def test_a_posting_that_was_made_while_the_clock_was_ahead_is_read(desk, settings):
    made = desk(items=1)
    made.round()
    settings.MTURK_PULL_SECONDS = 60.0
    Posting.objects.update(tried_at=None, wanted_at=timezone.now() + timedelta(days=1))
    assert [one.pk for one in pulls._due_in_turns(made.workforce)] == [Posting.objects.get().pk]


def test_three_judgments_of_a_hit_take_six_requests(desk, monkeypatch):
    """One to post it, two to read it and the new one, and an approval each: what was read isn't read again."""
    called = []
    whole = Market._call
    monkeypatch.setattr(
        Market,
        "_call",
        lambda market, operation, **arguments: called.append(operation) or whole(market, operation, **arguments),
    )
    made = desk(items=1, n=3)
    made.round()
    for name in "abc":
        made.worker(name).work()
    for _ in range(4):
        made.round()
    assert Posting.objects.get().state == "settled"
    assert Ticket.objects.filter(state="approved").count() == 3
    assert sorted(called) == [
        *["approve_assignment"] * 3,
        "create_hit",
        "create_qualification_type",
        *["list_assignments_for_hit"] * 2,
    ]
