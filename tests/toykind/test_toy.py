"""A kind of workforce added by docs/how-to/add-a-workforce.md: people come, work and see their statement by it."""

import hashlib
import hmac
import time
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.core.management import call_command
from django.test import Client

from annotation.models import Annotation
from tests import factories
from tests.toykind.kind import Course
from tests.workforces.link.panel import come, statement_of, work
from workforces.kinds.registry import KINDS
from workforces.models import Ticket, Workforce

pytestmark = pytest.mark.django_db
TERMS = {"website": "https://course.example/", "items_per_ticket": 2, "reward_cents": 5, "floor_cents_per_hour": 0}


@pytest.fixture
def campaign(monkeypatch, settings):
    """Return a launched campaign; the kind is one line of the registry and one folder of templates."""
    monkeypatch.setitem(KINDS, "course", Course())
    folder = Path(__file__).parent / "templates"
    settings.TEMPLATES = [{**settings.TEMPLATES[0], "DIRS": [*settings.TEMPLATES[0]["DIRS"], folder]}]
    return factories.antique(items=2, n=2)


def address(row, student, secret=""):
    """Return the address that the website of the course gives a student."""
    expires = str(int(time.time()) + 600)
    mark = hmac.new((secret or row.secret).encode(), f"{student}\n{expires}".encode(), hashlib.sha256).hexdigest()
    return f"{row.path}?{urlencode({'student': student, 'quorateExpires': expires, 'quorateSignature': mark})}"


def test_a_manager_adds_it_and_people_work_by_it_to_their_statement(campaign):
    manager = Client()
    manager.force_login(factories.user(is_admin=True))
    page = f"/campaigns/{campaign.slug}/recruitment/"
    assert "Students of a course" in manager.get(page).content.decode()
    sent = {"kind": "course", "people": 20, "seconds_each": 20, "website": TERMS["website"], "items_per_ticket": 2}
    sent |= {"reward_cents": "0.05", "floor_cents_per_hour": "0"}
    assert "Make the address" in manager.post(page, {**sent, "estimate": "1"}).content.decode()
    assert manager.post(page, {**sent, "launch": "1"}).status_code == 302
    row = Workforce.objects.get()
    assert row.terms["website"] == TERMS["website"]

    student, first = come(address(row, "ada"))
    last = work(student, first)
    assert "https://course.example/?outcome=completed" in last.content.decode()
    assert set(Annotation.objects.values_list("state", "via")) == {("counted", "course")}
    assert Ticket.objects.get().workforce == row
    statement = Client().get(statement_of(last)).content.decode()
    assert campaign.title in statement
    assert Ticket.objects.get().get_state_display() in statement
    assert "They earned 1 credits." in manager.get(page).content.decode()


def test_an_address_that_the_course_did_not_sign_leads_nowhere(campaign):
    call_command("add_workforce", campaign.slug, "course", *(f"{name}={value}" for name, value in TERMS.items()))
    page = Client().get(address(Workforce.objects.get(), "ada", secret="invented"), follow=True)
    assert page.status_code == 403
    assert not Ticket.objects.exists()


def test_what_it_does_not_do_stays_undone(campaign):
    kind = KINDS["course"]
    assert not (kind.writes or kind.has_books or kind.confirms or kind.tasks or kind.urls)
    assert kind.notify(workforce=None, surrogate_id=None, text="", token="", now=None) is None
