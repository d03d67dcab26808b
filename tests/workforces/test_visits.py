"""A visit is a claim: what a visitor can reach, see and undo with ids that anyone could write into an address."""

import re
from datetime import timedelta

import pytest
from django.core import signing
from django.test import Client
from django.utils import timezone

from accounts.models import ClaimedIdentity, ExternalIdentity
from annotation.models import Assignment, Slot
from annotation.people.services.standing import standing_move
from annotation.people.services.withdrawal import withdrawals_apply
from tests import factories
from tests.workforces.acts import by_link, path, signed, text_of, visit_of
from tests.workforces.link.panel import come, come_only, confirm, link, states, unsigned, work
from workforces.models import Errand, Posting, Ticket
from workforces.services.statements import SALT, statement_path
from workforces.services.tickets import tickets_lapse
from workforces.services.workforces import workforce_add

pytestmark = pytest.mark.django_db
HIT = "3HIT"


@pytest.fixture
def frame(settings):
    """Return a campaign's workforce at a marketplace that signs nothing, with one HIT."""
    settings.MTURK_SUBMIT_URLS, settings.MTURK_FRAME_SECRET = ["https://work.example"], ""
    campaign = factories.antique(items=4, n=1)
    row = workforce_add(
        campaign=campaign, kind="mturk", terms={"qualification": "own"}, actor_id=None, now=timezone.now()
    )
    now = timezone.now()
    Posting.objects.create(
        workforce=row, number=1, places=9, terms=row.terms, state="open", hit_id=HIT, wanted_at=now, touched_at=now
    )
    return row


def in_frame(row, worker, assignment):
    return f"{row.path}?assignmentId={assignment}&hitId={HIT}&workerId={worker}"


def test_each_way_in_has_its_own_door_and_none_can_be_guessed(frame):
    row = link(frame.campaign)
    assert Client().get(row.path).status_code == 200
    assert Client().get(frame.path).status_code == 200
    for address in (
        f"/hit/{row.key}/",
        f"/join/{frame.key}/",
        f"/hit/{row.pk}/",
        f"/hit/{frame.pk}/",
        f"/join/{row.pk}/",
    ):
        assert Client().get(address, {"PROLIFIC_PID": "p1"}).status_code == 404
    assert len(row.key) == 32
    assert row.key != row.secret


def test_invented_people_give_nothing_that_counts():
    row = link(factories.antique(items=4, n=3))
    for number in range(8):
        work(*come(unsigned(row, f"invented{number}", "s")))
    assert set(states()) == {"provisional"}
    assert not ExternalIdentity.objects.exists()
    assert Ticket.objects.filter(state="answered").count() == Ticket.objects.exclude(answered_at=None).count() > 0


def test_an_unsigned_address_with_the_ids_of_an_earlier_visit_shows_nothing_of_it():
    row = link(factories.antique(items=6, n=1))
    _, first = come(unsigned(row, "victim", "s1"))
    other, second = come(unsigned(row, "victim", "s1"))
    assert path(first, "answer").split("/")[-3] != path(second, "answer").split("/")[-3]
    assert Assignment.objects.values("surrogate").distinct().count() == 2
    stolen = path(first, "answer").replace(visit_of(first), visit_of(second))
    assert other.post(stolen, {"stage": "relevance", "version": "0", "label": "1"}).status_code in (404, 410)
    last = work(other, second).content.decode()
    assert "/statement/" not in last
    assert "CODE-DONE" in last


def test_nobody_reaches_the_statement_of_a_confirmed_person_by_their_ids(frame, settings):
    settings.MTURK_FRAME_SECRET = "shared"
    query = {"assignmentId": "3A", "hitId": HIT, "workerId": "AVICTIM"}
    client = Client()
    page = client.get(frame.path, signed(query), follow=True)
    client.post(path(page, "agree"), {"text": text_of(page)})
    assert "/statement/" in work(client, client.get(visit_of(page))).content.decode()
    for changed in ({**query, "assignmentId": "3B"}, query):
        assert Client().get(frame.path, changed).status_code == 403  # a marketplace that signs signs everything
    settings.MTURK_FRAME_SECRET = ""
    assert "/statement/" not in work(*come(in_frame(frame, "AVICTIM", "3A"))).content.decode()


def test_invented_workers_do_not_keep_the_holder_of_an_assignment_out(frame):
    for number in range(30):
        come(in_frame(frame, f"AFAKE{number}", f"3FAKE{number}"))
    Assignment.objects.filter(state="live").update(state="expired")
    Slot.objects.filter(state="held").update(state="open")
    _, page = come(in_frame(frame, "AHONEST", "3HONEST"))
    assert "/answer/" in page.content.decode()


def test_the_browser_that_began_a_visit_goes_on_with_it():
    row = link(factories.antique(items=6, n=1))
    client, first = come(unsigned(row, "p1", "s1"))
    again = client.get(unsigned(row, "p1", "s1"), follow=True)
    assert path(first, "answer").split("/")[-3] == path(again, "answer").split("/")[-3]
    assert (
        "/agree/" in client.get(unsigned(row, "p2", "s1"), follow=True).content.decode()
    )  # another person, another visit


@pytest.mark.parametrize("change", ["person", "visit", "expired", "signature", "not ascii"])
def test_a_signature_that_does_not_fit_or_is_over_is_refused(change):
    row = link(factories.antique(items=1))
    address = by_link(row, "p1", "s1")
    good = {
        "person": address.replace("=p1", "=p2"),
        "visit": address.replace("=s1", "=s2"),
        "expired": by_link(row, "p1", "s1", quorateExpires="1"),
        "signature": address[:-1] + "x",
        "not ascii": by_link(row, "p1", "s1", quorateSignature="é" * 64),
    }[change]
    assert Client().get(good).status_code == 403
    assert Client().get(address).status_code == 302


def test_a_workforce_can_refuse_whoever_is_not_signed():
    row = link(factories.antique(items=1), unsigned="refuse")
    assert Client().get(unsigned(row, "p1", "s1")).status_code == 403
    assert Client().get(by_link(row, "p1", "s1")).status_code == 302


def test_a_managers_stated_risk_lets_unsigned_work_count_at_once_and_makes_nobody_known():
    row = link(factories.antique(items=6, n=1), unsigned="count")
    for visit in ("s1", "s2"):
        last = work(*come(unsigned(row, "p1", visit)))
        assert "/statement/" not in last.content.decode()
    assert states() == ["counted"] * 4
    come(unsigned(row, "p1", "s3"))
    tickets_lapse(workforce=row, now=timezone.now() + timedelta(days=1))
    assert not ExternalIdentity.objects.exists()  # a claim is believed by nobody, whatever its work counts for


def test_someone_suspended_cannot_come_back_as_an_unsigned_visit():
    row = link(factories.antique(items=4, n=1))
    work(*come(unsigned(row, "p1", "s1")))
    confirm(row, "PROLIFIC_PID,SESSION_ID\np1,s1\n")
    person = ExternalIdentity.objects.get().surrogate_id
    from django.db import transaction

    with transaction.atomic():
        standing_move(campaign=row.campaign, surrogate_id=person, to="suspended", actor_id=None, now=timezone.now())
    work(*come(unsigned(row, "p1", "s2")))
    confirm(row, "PROLIFIC_PID,SESSION_ID\np1,s2\n")
    assert states() == ["counted", "counted", "excluded", "excluded"]


def test_a_claimed_name_is_forgotten_with_the_person_who_is_erased():
    from accounts.identities import external_erase

    row = link(factories.antique(items=4, n=1))
    work(*come(by_link(row, "p1", "s1")))
    work(*come(unsigned(row, "p1", "s2")))
    assert ClaimedIdentity.objects.filter(name="p1").count() == 1
    external_erase(identity=ExternalIdentity.objects.get(), actor_id=None, now=timezone.now())
    assert not ClaimedIdentity.objects.exists()


def test_a_statement_expires_and_a_new_address_goes_to_the_person_alone(frame, settings, monkeypatch):
    settings.MTURK_FRAME_SECRET = "shared"
    client = Client()
    page = client.get(frame.path, signed({"assignmentId": "3AONLYONE", "hitId": HIT, "workerId": "AONE"}), follow=True)
    client.post(path(page, "agree"), {"text": text_of(page)})
    work(client, client.get(visit_of(page)))
    ticket = Ticket.objects.get()
    assert Client().get(statement_path(ticket)).status_code == 200
    monkeypatch.setattr(signing.time, "time", lambda: timezone.now().timestamp() - 31 * 86_400)
    old = f"/statement/{signing.dumps(ticket.pk, salt=SALT)}/"
    monkeypatch.undo()
    over = Client().get(old)
    assert (over.status_code, b"expired" in over.content, b"3AONLYONE" in over.content) == (410, True, False)
    for _ in range(3):
        sent = Client().post(old)
        assert set(re.findall(r"/statement/[^/]+/", sent.content.decode())) <= {old}
    errand = Errand.objects.get(kind="notify")
    assert Client().get(re.search(r"/statement/\S+", errand.text).group()).status_code == 200
    assert errand.surrogate_id == ticket.surrogate_id


def test_leaving_asks_once_more_and_can_be_undone_for_seven_days():
    row = link(factories.antique(items=4, n=1))
    work(*come(by_link(row, "p1", "s1")))
    address = statement_path(Ticket.objects.get())
    client = Client()
    assert b'value="yes"' not in client.get(address).content
    assert b'value="yes"' in client.get(f"{address}?leave").content
    client.post(address, {"withdraw": "yes"})
    assert "/agree/" in come_only(by_link(row, "p1", "s2"))  # no more work without agreeing again
    withdrawals_apply(timezone.now() + timedelta(days=6))
    assert states() == ["counted", "counted"]
    client.post(address, {"undo": "1"})
    assert "/answer/" in come_only(by_link(row, "p1", "s3"))
    withdrawals_apply(timezone.now() + timedelta(days=8))
    assert states() == ["counted", "counted"]
    client.post(address, {"withdraw": "yes"})
    withdrawals_apply(timezone.now() + timedelta(days=7, hours=1))
    assert states() == ["withdrawn", "withdrawn"]


@pytest.mark.parametrize("url", ["https://a.example/#x", "https://a.example/?cc=1", "javascript:alert(1)"])
def test_an_address_that_cannot_take_the_code_is_refused(url):
    with pytest.raises(ValueError, match="return_url"):
        link(factories.antique(items=1), return_url=url)


def test_agreeing_anew_after_a_confirmation_is_the_persons_own(frame):
    row = link(frame.campaign)
    client = Client()
    asked = client.get(unsigned(row, "p1", "s1"), follow=True)
    agree, address = (path(asked, "agree"), {"text": text_of(asked)}), visit_of(asked)
    client.post(*agree)
    work(client, client.get(address))
    confirm(row, "PROLIFIC_PID,SESSION_ID\np1,s1\n")
    Client().post(statement_path(Ticket.objects.get()), {"withdraw": "yes"})
    client.post(*agree)  # in the tab that still asks
    assert not ClaimedIdentity.objects.exists()
    assert "/statement/" in client.get(address, follow=True).content.decode()


def test_who_asked_to_be_forgotten_is_nobody_new_when_they_come_back():
    """As a new person they would meet the same items, be paid for training again, and leave a suspension behind."""
    row = link(factories.antique(items=2, n=2))
    work(*come(by_link(row, "p1", "s1")))
    ticket = Ticket.objects.get()
    assert b"Your ID was deleted" in Client().post(statement_path(ticket), {"erase": "yes"}).content
    for address in (
        by_link(row, "p1", "s1"),
        by_link(row, "p1", "s2"),
        unsigned(row, "p1", "s3"),
    ):
        assert Client().get(address).status_code == 403
    assert Ticket.objects.count() == 1
    assert not ExternalIdentity.objects.exists()
    assert Client().get(by_link(row, "p2", "s5")).status_code == 302
