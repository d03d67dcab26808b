"""Tickets from the frame's address to the approval: taken twice, late, lapsed, forged, unmatched."""

import re
import threading
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from annotation.models import Annotation, Participation, Slot
from quality.models import GoldCheck
from quality.policies.policy import Policy
from simulation.browser import Form
from tests import factories
from tests.workforces.acts import answer, arrive, lapse, local, paid, path, text_of, visit_of
from workforces.kinds.mturk.postings import posting_end
from workforces.models import Errand, LedgerEntry, Posting, Ticket
from workforces.services.confirmations import ticket_accept
from workforces.services.refusals import ticket_refuse

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_preview_makes_no_row(desk):
    made = desk(items=1)
    made.round()
    tables = [Ticket, Annotation, Participation]
    for query in ({}, {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": Posting.objects.get().hit_id}):
        page = Client().get(made.workforce.path, query)
        assert page.status_code == 200
        assert b"preview" in page.content
        assert b"How do you repair" not in page.content  # a sample, never an item
    assert not any(table.objects.exists() for table in tables)


def test_answering_and_handing_in_twice_have_one_effect(desk):
    made = desk(items=1)
    made.round()
    worker = made.worker("a")
    taken = worker.take()
    client = Client()
    page = client.get(local(taken.frame), follow=True)
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


@pytest.mark.parametrize("grace", [200.0, 900.0])
def test_an_answer_that_is_not_handed_in_holds_its_place_for_so_long_and_no_longer(desk, settings, grace):
    settings.MTURK_GRACE_SECONDS = grace
    made = desk(items=1, n=1)
    made.round()
    client, page = arrive(made, "AWORKER", "3ONE")
    answer(client, page)
    for seconds, state in ((600 + grace - 100, "answered"), (600 + grace + 100, "lapsed")):
        Ticket.objects.update(opened_at=timezone.now() - timedelta(seconds=seconds))
        for _ in range(2):
            made.round()
        assert Ticket.objects.get().state == state


@pytest.mark.parametrize("taken_meanwhile", [False, True])
def test_a_submission_that_comes_late_is_paid_and_counts_if_its_slot_is_free(desk, taken_meanwhile):
    made = desk(items=1, n=1)
    made.round()
    worker = made.worker("a")
    taken = worker.take()
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


def test_a_gold_answer_that_lapsed_and_was_submitted_after_all_is_checked(desk):
    made = desk(items=2, n=1, gold=4, policy=Policy(gold_rate=0, gold_first=1, gold_first_items=1))
    made.round()
    worker = made.worker("a")
    taken = worker.take()
    page = worker.in_frame(taken, until="externalSubmit")
    ticket = Ticket.objects.get()
    assert ticket.work.get().annotation.item.batch.purpose == "gold"
    lapse(made, ticket)
    assert Slot.objects.get(pk=ticket.work.get().annotation.slot_id).state == "aside"
    worker.browser.send(page.form_to("/mturk/externalSubmit"))
    made.round()
    factories.examine(made.campaign)
    assert GoldCheck.objects.get().is_hit


def test_what_was_accepted_before_its_hit_ended_can_be_handed_in_counts_and_is_paid(desk):
    made = desk(items=1, n=1)
    made.round()
    worker = made.worker("slow")
    taken = worker.take()
    first = Posting.objects.get()
    posting_end(posting=first, now=timezone.now())
    made.round()
    made.round()
    first.refresh_from_db()
    assert first.state == "ended"  # not settled: someone has accepted it
    assert worker.finish(taken) == "handed_in"
    made.round()
    made.round()
    assert Annotation.objects.get().state == "counted"
    assert paid(made) == 10
    made.round()
    first.refresh_from_db()
    assert first.state == "settled"


def test_work_under_a_name_without_our_code_goes_to_a_person_unpaid_and_uncounted(desk):
    """Someone answers as another worker; that worker submits the assignment with no code of ours."""
    made = desk(items=1, n=1, sign=False)
    made.round()
    worker = made.worker("victim")
    taken = worker.take()
    query = dict(pair.split("=") for pair in taken.frame.split("?")[1].split("&"))
    client, page = arrive(made, query["workerId"], query["assignmentId"], query["hitId"])
    answer(client, page)
    submit = f"http://worker.localhost:{made.market.port}" + re.sub(
        r".*?(/s/[^&]*).*", r"\1", taken.frame.replace("%2F", "/")
    )
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
    taken = worker.take()
    query = {name: values[0] for name, values in parse_qs(urlsplit(taken.frame).query).items()}
    worker.browser.send(
        Form(query["turkSubmitTo"] + "/mturk/externalSubmit", "post", {"assignmentId": query["assignmentId"], "x": "1"})
    )
    for _ in range(3):
        made.round()
    ticket = Ticket.objects.get()
    assert ticket.state == "unmatched"
    boss = factories.user()
    ticket_refuse(
        ticket=ticket,
        reason="No answer was given.",
        actor_id=boss.surrogate_id,
        due_at=timezone.now(),
        now=timezone.now(),
    )
    made.round()
    made.round()
    assert Ticket.objects.get().state == "refused"
    assert paid(made) == 0


def test_training_cannot_be_claimed_without_doing_it(desk):
    made = desk(items=1, n=1, has_training=True, terms={"training_bonus_cents": 25})
    made.round()
    client, page = arrive(made, "ACLEVER", "3ONE")
    token = visit_of(page).split("/visit/")[1].split("/")[0]
    client.post(f"/visit/{token}/learn/", {"number": "6", "label": "4"})
    assert not Ticket.objects.get().trained
    assert Participation.objects.get().trained == 0


def test_answer_and_skip_at_once_do_not_wait_for_each_other(desk):
    made = desk(items=3, n=1)
    made.round()
    client, page = arrive(made, "AWORKER", "3ONE")
    errors = []

    def post(what, data):
        try:
            response = Client().post(path(page, what), data)
            assert response.status_code in (200, 302, 410), response.status_code
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
