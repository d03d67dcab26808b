"""Every trap that others of the field fell into (facts on the protocol, section 4), against a real marketplace."""

import re
import threading
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.utils import timezone

from annotation.models import Annotation, Participation, Slot
from quality.models import Verdict
from tests import factories
from tests.marketplace.served import served
from tests.workforces.conftest import TERMS, Desk
from workforces.kinds.base import ArrivalRefused
from workforces.kinds.mturk.kind import MTurk, MTurkTerms, worker_of
from workforces.models import Errand, LedgerEntry, Posting, Ticket, TicketWork, Workforce
from workforces.services.pay import bonus_grant, pay_hold, refusal_take_back, ticket_refuse
from workforces.services.postings import owed_post, posting_end
from workforces.services.reconcile import reconcile
from workforces.services.tickets import GRACE_SECONDS, ticket_accept
from workforces.services.workforces import workforce_add

pytestmark = pytest.mark.django_db(transaction=True)


def fault(made, operation, kind, times):
    done = made.market.command("marketplace_fault", operation, kind, "--times", str(times))
    assert done.returncode == 0, done.stderr


def lose_the_answer(made, operation):
    """Let a call get through and its answer be lost, and what boto3 tries again be throttled."""
    fault(made, operation, "drop-after", 1)
    fault(made, operation, "throttle", 2)


def hits(made):
    return [hit for page in made.client.get_paginator("list_hits").paginate() for hit in page["HITs"]]


def paid(made):
    """Return what the marketplace paid, and check it against our ledger to the cent."""
    found = reconcile(workforce=made.workforce)
    assert found.agrees, found.differences
    return made.money()["paid"]


def test_a_lost_answer_to_create_hit_makes_no_second_hit(desk):
    made = desk(items=1)
    lose_the_answer(made, "CreateHIT")
    made.round()
    assert Errand.objects.get(kind="publish").state == "sending"
    made.hurry()
    made.round()
    assert [hit["HITId"] for hit in hits(made)] == [Posting.objects.get().hit_id]
    assert Posting.objects.get().state == "open"


def test_a_lost_answer_to_send_bonus_pays_once(desk):
    made = desk(items=1)
    made.round()
    made.worker("a").work()
    made.round()
    bonus_grant(
        ticket=Ticket.objects.get(), cents=7, reason="Careful", actor_id=None, now=timezone.now(), token="careful"
    )
    lose_the_answer(made, "SendBonus")
    made.round()
    assert Errand.objects.get(kind="bonus").state == "sending"
    made.hurry()
    made.round()
    assert LedgerEntry.objects.filter(kind="bonus").count() == 1
    assert paid(made) == 10 + 7


@pytest.mark.parametrize("what", ["publish", "bonus"])
def test_an_outage_longer_than_the_token_lives_does_nothing_twice(desk, what):
    """The call got through, we died, and the marketplace has forgotten the token: the truth is read back."""
    made = desk(items=1)
    if what == "bonus":
        made.round()
        made.worker("a").work()
        made.round()
        bonus_grant(
            ticket=Ticket.objects.get(), cents=7, reason="Careful", actor_id=None, now=timezone.now(), token="careful"
        )
    lose_the_answer(made, "CreateHIT" if what == "publish" else "SendBonus")
    made.round()
    errand = Errand.objects.get(kind=what)
    assert errand.state == "sending"
    advanced = made.market.command("marketplace_clock", "--advance", "90000")
    assert advanced.returncode == 0, advanced.stderr
    try:
        Errand.objects.filter(pk=errand.pk).update(sending_since=timezone.now() - timedelta(hours=25))
        made.hurry()
        made.round()
        errand.refresh_from_db()
        assert errand.state == "confirmed"
        if what == "publish":
            assert len(hits(made)) == 1
        else:
            assert paid(made) == 17
    finally:
        made.market.command("marketplace_clock", "--reset")


def test_answering_and_handing_in_twice_have_one_effect(desk):
    made = desk(items=1)
    made.round()
    worker = made.worker("a")
    listing = worker.browser.get(worker.market_url + "/")
    taken = worker.browser.send(listing.form_to("/next/"))
    client = Client()
    page = client.get(local(taken.frames[0]), follow=True)
    client.post(path(page, "agree"), {"text": text_of(page)})
    page = client.get(visit_of(page))
    answer = path(page, "answer")
    for _ in range(3):
        client.post(answer, {"stage": "relevance", "version": "0", "label": "4"})
    assert Annotation.objects.count() == 1
    leave = client.get(visit_of(page))
    assert b"data-hand-in" in leave.content
    for _ in range(2):
        made.round()
    assert Annotation.objects.count() == 1


def local(url):
    """Return an address of this platform as its own client asks for it."""
    return re.sub(r"https?://[^/]+", "", url)


def visit_of(page):
    chain = getattr(page, "redirect_chain", None)
    return chain[-1][0] if chain else page.request["PATH_INFO"]


def path(page, what):
    return re.search(rf'action="([^"]*/{what}/)"', page.content.decode()).group(1)


def text_of(page):
    return re.search(r'name="text" value="(\d+)"', page.content.decode()).group(1)


def arrive(made, worker, assignment, hit=None):
    """Open the frame's address as somebody who says who they are; agree, and return the page of the item."""
    client = Client()
    query = {"assignmentId": assignment, "hitId": hit or Posting.objects.order_by("pk")[0].hit_id, "workerId": worker}
    page = client.get(f"/hit/{made.workforce.pk}/", query, follow=True)
    if "/agree/" in page.content.decode():
        client.post(path(page, "agree"), {"text": text_of(page)})
        page = client.get(visit_of(page), follow=True)
    return client, page


def answer(client, page, label=4):
    client.post(path(page, "answer"), {"stage": "relevance", "version": "0", "label": str(label)})


def test_an_assignment_id_that_goes_to_a_second_worker_is_another_ticket(desk):
    made = desk(items=3)
    made.round()
    for worker in ("AFIRST", "ASECOND"):
        client, page = arrive(made, worker, "3REUSED")
        answer(client, page)
    assert Ticket.objects.filter(remote_id="3REUSED").count() == 2
    assert Annotation.objects.filter(state="provisional").count() == 2
    made.round()
    assert not LedgerEntry.objects.exists()  # the marketplace lists neither


def test_returning_and_taking_it_again_under_another_id_goes_on_with_the_same_item(desk):
    made = desk(items=3)
    made.round()
    _, first = arrive(made, "AWORKER", "3ONE")
    client, second = arrive(made, "AWORKER", "3TWO")
    assert path(first, "answer").split("/")[-3] == path(second, "answer").split("/")[-3]
    answer(client, second)
    assert Ticket.objects.get(remote_id="3TWO").work.count() == 1
    assert Ticket.objects.get(remote_id="3ONE").work.count() == 0


def lapse(made, ticket):
    """Let a ticket's time pass, with the marketplace read after it."""
    Ticket.objects.filter(pk=ticket.pk).update(opened_at=timezone.now() - timedelta(seconds=600 + GRACE_SECONDS + 5))
    made.round()
    made.round()


def test_what_is_never_submitted_lapses_its_slot_reopens_and_the_same_ticket_can_be_taken_again(desk):
    made = desk(items=1, n=1)
    made.round()
    client, page = arrive(made, "AWORKER", "3ONE")
    answer(client, page)
    assert Slot.objects.get().state == "filled"
    lapse(made, Ticket.objects.get())
    assert (Ticket.objects.get().state, Slot.objects.get().state) == ("lapsed", "open")
    assert Annotation.objects.get().state == "given_up"
    assert Participation.objects.get().submitted == 0
    client, page = arrive(made, "AWORKER", "3ONE")
    assert b"data-hand-in" in page.content  # the answer is there still


@pytest.mark.parametrize("taken_meanwhile", [False, True])
def test_a_submission_that_comes_late_is_paid_and_counts_if_its_slot_is_free(desk, taken_meanwhile):
    made = desk(items=1, n=1)
    made.round()
    worker = made.worker("a")
    listing = worker.browser.get(worker.market_url + "/")
    taken = worker.browser.send(listing.form_to("/next/"))
    page = worker.in_frame(taken, until="externalSubmit")
    ticket = Ticket.objects.get()
    lapse(made, ticket)
    if taken_meanwhile:
        factories.vote(made.campaign, factories.annotator(made.campaign), 2)
    worker.browser.send(page.form_to("/mturk/externalSubmit"))
    made.round()
    made.round()
    own = Annotation.objects.get(ticket_work__ticket=ticket)
    assert own.state == ("surplus" if taken_meanwhile else "counted")
    assert paid(made) == 10


def test_work_under_a_name_without_our_code_goes_to_a_person_unpaid_and_uncounted(desk):
    """Somebody answers as another worker; that worker submits the assignment with no code of ours."""
    made = desk(items=1, n=1)
    made.round()
    worker = made.worker("victim")
    listing = worker.browser.get(worker.market_url + "/")
    taken = worker.browser.send(listing.form_to("/next/"))
    query = dict(pair.split("=") for pair in taken.frames[0].split("?")[1].split("&"))
    client, page = arrive(made, query["workerId"], query["assignmentId"], query["hitId"])
    answer(client, page)
    submit = f"http://worker.localhost:{made.market.port}" + re.sub(
        r".*?(/s/[^&]*).*", r"\1", taken.frames[0].replace("%2F", "/")
    )
    from simulation.browser import Form

    worker.browser.send(
        Form(submit + "/mturk/externalSubmit", "post", {"assignmentId": query["assignmentId"], "x": "1"})
    )
    made.round()
    ticket = Ticket.objects.get()
    assert (ticket.state, "code" in ticket.problem) == ("unmatched", True)
    assert Slot.objects.get().state == "open"
    assert not Annotation.objects.filter(state="counted").exists()
    assert not Errand.objects.filter(kind__in=["approve", "reject"]).exists()
    boss = factories.user()
    assert ticket_accept(ticket=ticket, actor_id=boss.surrogate_id, now=timezone.now())
    made.round()
    assert Annotation.objects.get().state == "counted"
    assert paid(made) == 10


def test_work_that_never_opened_our_page_is_kept_for_a_person_who_may_refuse_it(desk):
    made = desk(items=1)
    made.round()
    worker = made.worker("stranger")
    listing = worker.browser.get(worker.market_url + "/")
    taken = worker.browser.send(listing.form_to("/next/"))
    from urllib.parse import parse_qs, urlsplit

    from simulation.browser import Form

    query = {name: values[0] for name, values in parse_qs(urlsplit(taken.frames[0]).query).items()}
    worker.browser.send(
        Form(query["turkSubmitTo"] + "/mturk/externalSubmit", "post", {"assignmentId": query["assignmentId"], "x": "1"})
    )
    for _ in range(3):
        made.round()
    ticket = Ticket.objects.get()
    assert ticket.state == "unmatched"
    boss = factories.user()
    ticket_refuse(
        ticket=ticket, reason="No answer was given.", actor_id=boss.surrogate_id, due_at=timezone.now(),
        now=timezone.now(),
    )  # fmt: skip
    made.round()
    made.round()
    assert Ticket.objects.get().state == "refused"
    assert paid(made) == 0


def test_approved_by_the_marketplaces_clock_is_written_down_once_and_not_approved_again(desk):
    made = desk(items=1, terms={"approve_after_seconds": 3600, "auto_approval_seconds": 7200})
    made.round()
    made.worker("a").work()
    made.round()
    made.market.command("marketplace_clock", "--advance", "7300")
    try:
        made.round()
        made.round()
        assert Ticket.objects.get().state == "approved"
        assert not Errand.objects.filter(kind="approve", state="confirmed").exists()
        assert LedgerEntry.objects.filter(kind="reward").count() == 1
        assert paid(made) == 10
    finally:
        made.market.command("marketplace_clock", "--reset")


def test_a_refusal_comes_too_late_for_what_the_clock_approved(desk):
    made = desk(items=1, terms={"approve_after_seconds": 3600, "auto_approval_seconds": 7200})
    made.round()
    made.worker("a").work()
    made.round()
    boss = factories.user()
    ticket_refuse(
        ticket=Ticket.objects.get(), reason="Wrong.", actor_id=boss.surrogate_id, now=timezone.now(),
        due_at=timezone.now() + timedelta(seconds=60),
    )  # fmt: skip
    made.market.command("marketplace_clock", "--advance", "7300")
    try:
        Errand.objects.filter(kind="reject").update(due_at=timezone.now())
        made.round()
        assert (Ticket.objects.get().state, Errand.objects.get(kind="reject").state) == ("approved", "failed")
        assert paid(made) == 10
    finally:
        made.market.command("marketplace_clock", "--reset")


@pytest.mark.parametrize("days", [2, 31])
def test_an_appeal_is_paid_by_override_and_after_thirty_days_by_bonus(desk, days):
    made = desk(items=1, terms={"approve_after_seconds": 3600})
    made.round()
    made.worker("a").work()
    made.round()
    boss = factories.user()
    ticket = Ticket.objects.get()
    ticket_refuse(ticket=ticket, reason="Wrong.", actor_id=boss.surrogate_id, due_at=timezone.now(), now=timezone.now())
    made.round()
    assert Ticket.objects.get().state == "refused"
    made.market.command("marketplace_clock", "--advance", str(days * 86_400))
    try:
        Ticket.objects.update(submitted_at=timezone.now() - timedelta(days=days))
        ticket.refresh_from_db()
        with transaction.atomic():
            refusal_take_back(ticket=ticket, reason="It was right.", actor_id=boss.surrogate_id, now=timezone.now())
        made.round()
        made.round()
        assert LedgerEntry.objects.get().kind == ("reward" if days == 2 else "bonus")
        assert made.money()["paid"] == 10
    finally:
        made.market.command("marketplace_clock", "--reset")


def test_polling_alone_is_enough_and_reading_twice_changes_nothing(desk):
    made = desk(items=1)
    made.round()
    made.worker("a").work()
    for _ in range(4):
        made.round()
    assert Annotation.objects.filter(state="counted").count() == 1
    assert LedgerEntry.objects.count() == 1


def test_a_worker_on_many_hits_of_a_campaign_meets_no_item_twice_and_is_kept_out_when_all_are_seen(desk):
    made = desk(items=2, n=3)
    made.round()
    worker = made.worker("busy")
    for _ in range(2):
        worker.work()
        made.round()
    items = list(Annotation.objects.values_list("item_id", flat=True))
    assert len(items) == len(set(items)) == 2
    stale(made, 0)
    made.round()  # what nobody took is posted again
    stale(made, 86_400)
    made.round()
    assert worker.work() == "returned"  # there is no item for this person
    made.round()
    assert Errand.objects.filter(kind="grant", state="confirmed").count() == 1
    assert worker.work() == "nothing"  # nothing is offered any more
    stale(made, 0)
    made.round()  # what nobody took is posted again, and everybody may look again
    assert Errand.objects.filter(kind="revoke", state="confirmed").count() == 1


def stale(made, seconds):
    Workforce.objects.filter(pk=made.workforce.pk).update(terms={**TERMS, "stale_seconds": seconds})


def test_a_posting_never_has_ten_places(desk):
    made = desk(items=1, n=12)
    made.round()
    assert {posting.places for posting in Posting.objects.all()} == {9, 3}
    posting = Posting.objects.order_by("pk")[0]
    with pytest.raises(IntegrityError), transaction.atomic():
        Posting.objects.filter(pk=posting.pk).update(places=10)


def test_an_id_that_this_marketplace_does_not_know_goes_to_a_person(desk):
    made = desk(items=1)
    made.round()
    client, page = arrive(made, "ANOBODYHERE", "3ONE")
    answer(client, page)
    Ticket.objects.update(state="submitted", submitted_at=timezone.now())
    made.round()
    errand = Errand.objects.get(kind="approve")
    assert errand.state == "failed"
    assert not LedgerEntry.objects.exists()


def test_refusing_and_excluding_work_asks_for_it_again_in_a_new_posting(desk):
    made = desk(items=1, n=1, terms={"approve_after_seconds": 3600})
    made.round()
    made.worker("a").work()
    made.round()
    made.round()
    from annotation.services.exclusions import annotation_exclude

    boss = factories.user()
    ticket_refuse(
        ticket=Ticket.objects.get(),
        reason="Wrong.",
        actor_id=boss.surrogate_id,
        due_at=timezone.now(),
        now=timezone.now(),
    )
    annotation_exclude(
        annotation=Annotation.objects.get(), because="quality", actor_id=boss.surrogate_id, now=timezone.now()
    )
    made.round()
    assert Posting.objects.filter(state="open").count() == 1
    assert made.worker("b").work() == "handed_in"
    made.round()
    assert Annotation.objects.get(state="counted").slot == Slot.objects.get()


def test_a_preview_makes_no_row(desk):
    made = desk(items=1)
    made.round()
    tables = [Ticket, Annotation, Participation]
    for query in ({}, {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": Posting.objects.get().hit_id}):
        page = Client().get(f"/hit/{made.workforce.pk}/", query)
        assert page.status_code == 200
        assert b"preview" in page.content
        assert b"How does one mend" not in page.content  # a sample, never an item
    assert not any(table.objects.exists() for table in tables)


def test_somebody_who_did_the_training_and_finds_nothing_left_hands_in_and_is_paid(desk):
    made = desk(items=1, n=1, has_training=True, terms={"training_bonus_cents": 25})
    made.round()
    late = made.worker("late")
    listing = late.browser.get(late.market_url + "/")
    taken = late.browser.send(listing.form_to("/next/"))
    other = factories.annotator(made.campaign)
    Participation.objects.create(campaign=made.campaign, surrogate=other.surrogate, trained_at=timezone.now())
    factories.vote(made.campaign, other, 4)
    late.finish(taken)
    made.round()
    made.round()
    assert Ticket.objects.get().state == "approved"
    assert not Ticket.objects.get().work.exists()
    assert paid(made) == 10 + 25


def test_training_cannot_be_claimed_without_doing_it(desk):
    made = desk(items=1, n=1, has_training=True, terms={"training_bonus_cents": 25})
    made.round()
    client, page = arrive(made, "ACLEVER", "3ONE")
    token = visit_of(page).split("/visit/")[1].split("/")[0]
    client.post(f"/visit/{token}/learn/", {"number": "6", "label": "4"})
    assert not Ticket.objects.get().trained
    assert Participation.objects.get().trained == 0


def test_work_that_could_not_be_handed_in_is_paid_by_a_posting_for_one(desk):
    made = desk(items=1, n=1)
    made.round()
    worker = made.worker("unlucky")
    listing = worker.browser.get(worker.market_url + "/")
    taken = worker.browser.send(listing.form_to("/next/"))
    worker.in_frame(taken, until="externalSubmit")
    worker.browser.send(taken.form_to("/return/"))  # the frame broke, say
    boss = factories.user()
    surrogate_id = Ticket.objects.get().surrogate_id
    posting_end(posting=Posting.objects.get(), now=timezone.now())
    owed_post(
        workforce=made.workforce, surrogate_id=surrogate_id, cents=10, reason="Your work of today was lost.",
        actor_id=boss.surrogate_id, now=timezone.now(),
    )  # fmt: skip
    made.round()
    other = made.worker("other")
    assert "Payment for work you did" not in other.browser.get(other.market_url + "/").text
    assert "Payment for work you did" in worker.browser.get(worker.market_url + "/").text
    assert worker.work() == "handed_in"
    made.round()
    made.round()
    assert paid(made) == 10


def test_a_bonus_that_fails_does_not_keep_the_approval_from_being_sent(desk):
    made = desk(items=1)
    made.round()
    made.worker("a").work()
    Workforce.objects.update(terms={**TERMS, "approve_after_seconds": 0})
    fault(made, "SendBonus", "throttle", 3)
    made.round()
    bonus_grant(
        ticket=Ticket.objects.get(), cents=7, reason="Careful", actor_id=None, now=timezone.now(), token="careful"
    )
    made.round()
    assert Ticket.objects.get().state == "approved"
    made.hurry()
    made.round()
    assert paid(made) == 17


def test_terms_that_change_do_not_change_what_was_posted(desk):
    made = desk(items=1)
    made.round()
    workforce_add(
        campaign=made.campaign, kind="mturk", terms={**TERMS, "reward_cents": 50}, actor_id=None, now=timezone.now()
    )
    made.worker("a").work()
    made.round()
    made.round()
    assert LedgerEntry.objects.get().cents == 10
    assert paid(made) == 10


def test_the_cap_is_a_cap(desk):
    made = desk(items=5, n=1, terms={"cap_cents": 36})
    made.round()
    assert Posting.objects.count() == 3  # 12 cents each with the fee
    made.workforce.refresh_from_db()
    assert made.workforce.spent_stop
    worker = made.worker("a")
    for _ in range(8):
        worker.work()
        made.round()
    books = made.money()
    assert books["paid"] + books["fees"] == 36


def test_one_hit_that_is_gone_stops_nothing_else(desk):
    made = desk(items=2, n=1)
    made.round()
    made.worker("a").work()
    first = Posting.objects.get(tickets=None)
    Posting.objects.filter(pk=first.pk).update(hit_id="3GONEGONEGONEGONEGONEGONE", tried_at=None)
    made.round()
    made.round()
    assert Annotation.objects.filter(state="counted").count() == 1
    assert Posting.objects.get(pk=first.pk).state == "settled"


def test_no_call_to_the_marketplace_is_made_inside_a_transaction(desk, monkeypatch):
    from workforces.kinds.mturk.client import Market

    inside = []
    call = Market._call

    def watched(self, operation, **arguments):
        # One level is the job's own savepoint-free step; the tests themselves open none.
        inside.append(connection.in_atomic_block)
        return call(self, operation, **arguments)

    monkeypatch.setattr(Market, "_call", watched)
    made = desk(items=1)
    made.round()
    made.worker("a").work()
    made.round()
    made.round()
    assert inside
    assert not any(inside)


def test_answer_and_skip_at_once_do_not_wait_for_each_other(desk):
    made = desk(items=3, n=1)
    made.round()
    client, page = arrive(made, "AWORKER", "3ONE")
    errors = []

    def post(what, data):
        try:
            response = Client().post(path(page, what), data)
            assert response.status_code in (302, 410), response.status_code
        except Exception as error:  # noqa: BLE001  shown by the assertion below
            errors.append(error)
        finally:
            connection.close()

    threads = [
        threading.Thread(target=post, args=("answer", {"stage": "relevance", "version": "0", "label": "4"})),
        threading.Thread(target=post, args=("skip", {"reason": "unclear"})),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not errors
    assert Annotation.objects.count() + Ticket.objects.filter(state="open").count() == 1


def test_a_marketplace_with_every_quirk_is_worked_with(tmp_path, transactional_db, live_server, settings):
    """Ids that are used again, workers' names twice, no address to submit to, work that cannot be decided yet."""
    quirks = {
        "MARKETPLACE_QUIRK_REUSE_ASSIGNMENT_IDS": "1", "MARKETPLACE_QUIRK_DOUBLED_WORKER_ID": "1",
        "MARKETPLACE_QUIRK_UNDECIDABLE_SECONDS": "2", "MARKETPLACE_QUIRK_INDEX_LAG_SECONDS": "1",
    }  # fmt: skip
    with served(tmp_path, **quirks) as market:
        campaign = factories.antique(items=2, n=2)
        made = Desk(market, campaign, live_server.url, settings)
        made.round()
        crowd = [made.worker("a", returns=0.4), made.worker("b", returns=0.4)]
        for _ in range(12):
            for worker in crowd:
                worker.work()
            made.round()
        for _ in range(40):
            made.hurry()
            made.round()
            if not Ticket.objects.filter(state="submitted").exists():
                break
        factories.examine(campaign)
        assert Verdict.objects.filter(superseded_at=None).count() == 2
        assert not Errand.objects.filter(state="failed").exists()
        assert paid(made) == 40


SUBMIT = ["https://work.example", "http://worker.localhost:8100"]
GOOD = {"assignmentId": "3ABC", "hitId": "3HIT", "workerId": "AW1", "turkSubmitTo": "https://work.example/"}


@pytest.mark.parametrize(
    ("changes", "submit"),
    [
        ({}, "https://work.example/mturk/externalSubmit"),
        ({"turkSubmitTo": "https://work.example"}, "https://work.example/mturk/externalSubmit"),
        ({"turkSubmitTo": ""}, "https://work.example/mturk/externalSubmit"),
        ({"turkSubmitTo": "https://work.example/s/secret"}, "https://work.example/s/secret/mturk/externalSubmit"),
        ({"workerId": "AW1,AW1"}, "https://work.example/mturk/externalSubmit"),
    ],
)
def test_addresses_as_they_come_are_understood(changes, submit):
    arrival = MTurk(SUBMIT).arrive({**GOOD, **changes}, MTurkTerms())
    assert (arrival.worker, arrival.submit_url) == ("AW1", submit)


@pytest.mark.parametrize(
    "changes",
    [
        {"turkSubmitTo": "https://evil.example"}, {"turkSubmitTo": "javascript:alert(1)"},
        {"turkSubmitTo": "https://work.example.evil.example"}, {"turkSubmitTo": "https://work.example/?x=1"},
        {"workerId": ""}, {"workerId": "AW1,AW2"}, {"workerId": "../x"}, {"hitId": ""}, {"assignmentId": "a b"},
    ],
)  # fmt: skip
def test_addresses_that_lead_elsewhere_are_refused(changes):
    with pytest.raises(ArrivalRefused):
        MTurk(SUBMIT).arrive({**GOOD, **changes}, MTurkTerms())


def test_with_a_secret_an_address_must_be_signed_and_fresh():
    with pytest.raises(ArrivalRefused, match="missing"):
        MTurk(SUBMIT, "secret", 100.0).arrive(GOOD, MTurkTerms())
    with pytest.raises(ArrivalRefused, match="does not fit"):
        MTurk(SUBMIT, "secret", 100.0).arrive({**GOOD, "quorateSignature": "0", "quorateExpires": "200"}, MTurkTerms())
    assert worker_of("AW1, AW1") == "AW1"


def test_work_confirmed_after_a_suspension_or_a_withdrawal_does_not_count(desk):
    from annotation.models import Standing
    from annotation.services.people import standing_move
    from annotation.services.withdrawal import participation_withdraw

    made = desk(items=2, n=1)
    made.round()
    for name in ("suspended", "withdrawn"):
        made.worker(name).work()
    first, second = Ticket.objects.order_by("pk")
    with transaction.atomic():
        standing_move(
            campaign=made.campaign,
            surrogate_id=first.surrogate_id,
            to=Standing.SUSPENDED,
            actor_id=None,
            now=timezone.now(),
        )
    participation_withdraw(campaign=made.campaign, surrogate_id=second.surrogate_id, now=timezone.now())
    made.round()
    made.round()
    assert not Annotation.objects.filter(state="counted").exists()
    assert Slot.objects.filter(state="open").count() == 2
    assert paid(made) == 20  # it was done, and nobody refused it


def test_somebody_who_is_reinstated_may_take_postings_again(desk):
    from quality.models import Review
    from quality.rules.policy import Policy
    from quality.services.people import review_decide

    made = desk(items=3, n=1, gold=6, policy=Policy(gold_first=3, gold_first_items=3))
    made.round()
    worker = made.worker("back", care=1.0)
    for item in made.campaign.items.all():
        worker.truth[item.content["question_text"], item.content["answer_text"]] = 1
    for _ in range(3):
        worker.work()
        made.round()
    factories.examine(made.campaign)
    made.round()
    assert worker.work() in ("returned", "nothing")
    made.round()
    assert Errand.objects.filter(kind="grant", state="confirmed").exists()
    boss = factories.user()
    review_decide(
        review=Review.objects.get(), suspend=False, reason="", refuse_pay=False, actor_id=boss.surrogate_id,
        now=timezone.now(),
    )  # fmt: skip
    made.round()
    assert Errand.objects.filter(kind="revoke", state="confirmed").exists()
    made.round()
    assert worker.work() == "handed_in"


def test_the_pay_of_somebody_who_is_paused_waits_for_a_manager_but_not_for_ever(desk):
    made = desk(items=1)
    made.round()
    made.worker("a").work()
    surrogate_id = Ticket.objects.get().surrogate_id
    with transaction.atomic():
        pay_hold(campaign=made.campaign, surrogate_id=surrogate_id, until=timezone.now() + timedelta(hours=5))
    made.round()
    made.round()
    assert not Errand.objects.filter(kind="approve").exists()
    with transaction.atomic():
        pay_hold(campaign=made.campaign, surrogate_id=surrogate_id, until=timezone.now() - timedelta(seconds=1))
    made.round()
    assert paid(made) == 10


def test_an_errand_that_breaks_does_not_keep_the_others_from_being_done(desk):
    made = desk(items=1)
    made.round()
    made.worker("a").work()
    made.round()
    with transaction.atomic():
        from workforces.services.outbox import errand_add

        errand_add(workforce=made.workforce, kind="expire", due_at=timezone.now() - timedelta(days=1))  # of no posting
    bonus_grant(
        ticket=Ticket.objects.get(), cents=7, reason="Careful", actor_id=None, now=timezone.now(), token="careful"
    )
    made.round()
    assert Errand.objects.get(kind="expire", posting=None).state == "failed"
    assert paid(made) == 17


def test_when_a_posting_is_refused_nothing_more_is_posted_until_a_person_looked(desk):
    made = desk(items=4, n=1, terms={"title": "x" * 200})
    for _ in range(4):
        made.round()
    failed = Errand.objects.filter(kind="publish", state="failed")
    assert 1 <= failed.count() <= 4
    before = Posting.objects.count()
    made.round()
    assert Posting.objects.count() == before


def test_a_gold_answer_that_lapsed_and_was_submitted_after_all_is_checked(desk):
    from quality.models import GoldCheck
    from quality.rules.policy import Policy

    made = desk(items=2, n=1, gold=4, policy=Policy(gold_first=1, gold_first_items=1))
    made.round()
    worker = made.worker("a")
    listing = worker.browser.get(worker.market_url + "/")
    taken = worker.browser.send(listing.form_to("/next/"))
    page = worker.in_frame(taken, until="externalSubmit")
    ticket = Ticket.objects.get()
    assert ticket.work.get().annotation.item.batch.purpose == "gold"
    lapse(made, ticket)
    assert Slot.objects.get(pk=ticket.work.get().annotation.slot_id).state == "aside"
    worker.browser.send(page.form_to("/mturk/externalSubmit"))
    made.round()
    factories.examine(made.campaign)
    assert GoldCheck.objects.get().is_hit


def test_somebody_from_a_marketplace_can_take_consent_back_and_is_paid_all_the_same(desk):
    from workforces.services.statements import statement_path

    made = desk(items=2, n=1)
    made.round()
    made.worker("leaver").work()
    ticket = Ticket.objects.get()
    path = statement_path(workforce_id=made.workforce.pk, surrogate_id=ticket.surrogate_id)
    client = Client()
    assert client.get(path).status_code == 200
    page = client.post(path, {"withdraw": "1"}, follow=True)
    assert b"still paid" in page.content
    annotation = Annotation.objects.get()
    assert (TicketWork.objects.count(), annotation.state) == (0, "withdrawn")
    assert annotation.surrogate_id != ticket.surrogate_id
    made.round()
    made.round()
    assert paid(made) == 10
    assert client.get("/statement/nonsense/").status_code == 404


def test_what_was_accepted_before_its_hit_ended_can_be_handed_in_counts_and_is_paid(desk):
    made = desk(items=1, n=1)
    made.round()
    worker = made.worker("slow")
    listing = worker.browser.get(worker.market_url + "/")
    taken = worker.browser.send(listing.form_to("/next/"))
    first = Posting.objects.get()
    posting_end(posting=first, now=timezone.now())
    made.round()
    made.round()
    first.refresh_from_db()
    assert first.state == "ended"  # not settled: somebody has accepted it
    assert worker.finish(taken) == "handed_in"
    made.round()
    made.round()
    assert Annotation.objects.get().state == "counted"
    assert paid(made) == 10
    made.round()
    first.refresh_from_db()
    assert first.state == "settled"
