"""What was done is submitted and paid, whatever its author agrees to afterwards; and a visit reaches its own work alone."""

from urllib.parse import urlencode

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Consent, ExternalIdentity
from annotation.models import Assignment, EventChunk, Withdrawal
from simulation.browser import Browser
from simulation.doors.market import SUBMIT
from tests import factories
from tests.workforces.acts import answer_in, by_link, enter, path, rounds, send, signed, text_of, visit_of
from tests.workforces.link.panel import come, link, statement_of, work
from workforces.kinds.mturk.postings import compensation_post
from workforces.models import LedgerEntry, Posting, Ticket
from workforces.services.statements import statement_path
from workforces.services.workforces import workforce_add

SCRIPT = {"Accept": "application/json"}  # as the desk's own asks
AFTERWARDS = pytest.mark.parametrize("afterwards", ["another text", "withdrawal"])


def take_back(afterwards, campaign, statement):
    """Let the author's consent be one no more."""
    if afterwards == "another text":
        factories.consent_text(campaign)
    else:
        Client().post(statement, {"withdraw": "yes"})
    assert not Consent.objects.filter(text__version=2).exists()


@pytest.fixture
def taken(desk):
    """Return a marketplace and the frame of one HIT of two items there with the first item in it."""
    made = desk(items=2, n=1, terms={"items_per_ticket": 2, "places": 1})
    rounds(made, 2)
    return made, enter(made.worker("w").take().frame)


@pytest.mark.django_db(transaction=True)
@AFTERWARDS
def test_a_finished_hit_is_handed_in_without_agreeing_to_anything(taken, afterwards):
    made, page = taken
    answer_in(answer_in(page))
    take_back(afterwards, made.campaign, statement_path(Ticket.objects.get()))
    page = Browser().get(page.url)
    assert page.form_to("/agree/") is None
    send(page.form_to(SUBMIT))
    rounds(made, 4)
    assert (Ticket.objects.get().state, LedgerEntry.objects.filter(kind="reward").count()) == ("approved", 1)
    assert Withdrawal.objects.count() == (afterwards == "withdrawal")


@pytest.mark.django_db(transaction=True)
def test_who_does_not_agree_to_another_text_hands_in_what_they_did(taken):
    made, page = taken
    answer_in(page)
    factories.consent_text(made.campaign)
    page = send(Browser().get(page.url).form_to("/agree/"), hand_in="1")
    send(page.form_to(SUBMIT))
    rounds(made)
    ticket = Ticket.objects.get()
    assert (ticket.state, bool(ticket.problem)) == ("unmatched", True)  # it is half of a HIT: a manager decides
    assert not Consent.objects.filter(text__version=2).exists()


@pytest.mark.django_db
def test_who_did_nothing_has_nothing_to_hand_in_instead_of_agreeing():
    row = link(factories.antique(items=2, n=1))
    client = Client()
    page = client.get(by_link(row, "p1", "s1"), follow=True)
    assert 'name="hand_in"' not in page.content.decode()
    page = client.post(path(page, "agree"), {"hand_in": "1"}, follow=True)
    assert "/agree/" in page.content.decode()
    assert not Ticket.objects.exists() and not ExternalIdentity.objects.exists()


@pytest.mark.django_db
@AFTERWARDS
def test_a_finished_visit_keeps_its_code(afterwards):
    row = link(factories.antique(items=2, n=1))
    client, page = come(by_link(row, "p1", "s1"))
    visit = visit_of(page)
    last = work(client, page)
    take_back(afterwards, row.campaign, statement_of(last))
    again = client.get(visit).content.decode()
    assert "CODE-DONE" in again and "/agree/" not in again


def owed(made):
    """Let a worker be owed something for lost work; return them and the ticket of that work."""
    rounds(made, 2)
    worker = made.worker("w")
    worker.work()
    rounds(made)
    ticket = Ticket.objects.get()
    compensation_post(
        workforce=made.workforce,
        surrogate_id=ticket.surrogate_id,
        cents=70,
        reason="lost work",
        now=timezone.now(),
        actor_id=factories.user(is_admin=True).surrogate_id,
    )
    rounds(made)
    return worker, ticket


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("sign", [True, False])
def test_what_is_owed_asks_for_no_work(desk, sign):
    made = desk(items=1, n=1, sign=sign, terms={"items_per_ticket": 1, "places": 1})
    worker, ticket = owed(made)
    assert worker.work() == "handed_in"
    rounds(made)
    assert Ticket.objects.get(posting__owed_to=ticket.surrogate_id).state == "approved"
    assert LedgerEntry.objects.filter(kind="reward").values_list("cents", flat=True).order_by("pk").last() == 70


@pytest.mark.django_db(transaction=True)
@AFTERWARDS
@pytest.mark.parametrize("sign", [True, False])
def test_what_is_owed_is_paid_without_agreeing_to_anything(desk, afterwards, sign):
    made = desk(items=2, n=2, sign=sign, terms={"items_per_ticket": 1, "places": 1})
    worker, ticket = owed(made)
    take_back(afterwards, made.campaign, statement_path(ticket))
    posting = Posting.objects.get(owed_to=ticket.surrogate_id)
    url = next(frame for frame in (worker.take().frame for _ in range(3)) if posting.hit_id in frame)
    send(Browser().get(url).form_to(SUBMIT))
    rounds(made, 4)
    assert Ticket.objects.get(posting=posting).state == "approved"
    assert Withdrawal.objects.count() == (afterwards == "withdrawal")


@pytest.mark.django_db
def test_who_was_at_work_when_the_text_changed_reads_it_next():
    campaign = factories.antique(items=2, n=1)
    client, page = come(by_link(link(campaign), "p1", "s1"))
    text = factories.consent_text(campaign)
    sent = {"stage": "relevance", "version": "0", "label": "4"}
    asked = client.post(path(page, "answer"), sent, follow=True)
    assert (text_of(asked), Ticket.objects.get().work.count()) == (str(text.pk), 0)
    assert client.post(path(page, "answer").replace("/answer/", "/draft/"), sent, headers=SCRIPT).status_code == 403


@pytest.mark.django_db
def test_a_visit_does_nothing_to_what_its_person_holds_in_another_campaign(settings):
    settings.MTURK_SUBMIT_URLS, settings.MTURK_FRAME_SECRET = ["https://work.example"], "shared"
    pages = [come(_frame_address(number))[1] for number in range(2)]
    held = Assignment.objects.order_by("pk")
    one, other = (held.get(pk=path(page, "answer").split("/")[-3]) for page in pages)
    assert one.surrogate_id == other.surrogate_id
    base = path(pages[0], "answer").replace(str(one.pk), str(other.pk)).removesuffix("answer/")
    sent = {"stage": "relevance", "version": "0", "label": "4", "sequence": "0", "events": '[[1, "key"]]'}
    for what in ("answer", "draft", "events", "back", "skip"):
        assert Client().post(f"{base}{what}/", {**sent, "reason": "unclear"}).status_code == 404, what
    other.refresh_from_db()
    assert (other.state, other.draft, EventChunk.objects.count()) == ("live", {}, 0)


def _frame_address(number):
    now = timezone.now()
    campaign = factories.antique(items=2, n=1)
    row = workforce_add(campaign=campaign, kind="mturk", terms={"qualification": "own"}, actor_id=None, now=now)
    Posting.objects.create(
        workforce=row,
        number=1,
        places=9,
        terms=row.terms,
        state="open",
        hit_id=f"3HIT{number}",
        wanted_at=now,
        touched_at=now,
    )
    query = {"assignmentId": f"3A{number}", "hitId": f"3HIT{number}", "workerId": "AW"}
    return f"{row.path}?{urlencode(signed(query))}"
