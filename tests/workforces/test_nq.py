"""Natural Questions by a link: three stages without an account, back and forth, drafts, pay as for any other type."""

import re

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Annotation, Assignment
from tests import factories
from tests.workforces.acts import by_link
from workforces.models import Ticket
from workforces.services.workforces import workforce_add

pytestmark = pytest.mark.django_db
CODES = {
    "code_completed": "CODE-DONE",
    "code_screened_out": "CODE-OUT",
    "code_nothing_left": "CODE-LEFT",
    "items_per_ticket": 1,
}


@pytest.fixture
def campaign():
    return factories.campaign(items=1)


@pytest.fixture
def visit(campaign):
    """Return a client without an account, its address, and its first page."""
    row = workforce_add(campaign=campaign, kind="link", terms=CODES, actor_id=None, now=timezone.now())
    client = Client()
    page = client.get(by_link(row, "p1", "s1"), follow=True)
    address = page.redirect_chain[-1][0]
    consent = re.search(r'action="([^"]*/agree/)".*?name="text" value="(\d+)"', page.content.decode(), re.DOTALL)
    body = client.post(consent.group(1), {"text": consent.group(2)}, follow=True).content.decode()
    return client, address, body


def send(client, body, where="answer", **fields):
    action = re.search(rf'action="([^"]+/{where}/)"', body).group(1)
    version = re.search(r'name="version" value="(\d+)"', body).group(1)
    stage = re.search(r'name="stage" value="(\w+)"', body)
    sent = {"version": version, **({"stage": stage.group(1)} if stage and where == "answer" else {}), **fields}
    return client.post(action, sent, follow=True).content.decode()


def test_all_three_stages_are_done_without_an_account(visit, campaign):
    client, address, body = visit
    assert "/assignments/" not in body  # nothing leads to addresses that need an account
    assert "harbour of Lund" not in body  # the page is not sent before the question is judged
    body = send(client, body, label="good")
    assert "harbour of Lund" in body
    assert "/assignments/" not in body
    body = send(client, body, candidate_index="0")
    body = send(client, body, "back")
    assert 'name="candidate_index"' in body
    body = send(client, body, candidate_index="0")
    words = [int(number) for number in re.findall(r'data-token="(\d+)"', body)]
    spans = f"[[{words[0]}, {words[2]}]]"
    kept = client.post(
        re.search(r'data-draft-url="([^"]+)"', body).group(1),
        {"spans": spans, "kind": "spans", "version": re.search(r'name="version" value="(\d+)"', body).group(1)},
    )
    assert kept.status_code == 200
    assert Assignment.objects.get(state="live").draft["suggestion"]["short_answer"]["kind"] == "spans"
    body = send(client, body, spans=spans, kind="spans")
    assert "CODE-DONE" in body
    annotation = Annotation.objects.get()
    assert (annotation.via, annotation.state) == ("link", "counted")
    assert annotation.answer["short_answer"]["spans"] == [[words[0], words[2]]]
    assert Ticket.objects.get().state == "submitted"


def test_what_is_not_a_span_is_refused_and_nothing_is_kept(visit):
    client, address, body = visit
    body = send(client, body, label="good")
    body = send(client, body, candidate_index="0")
    refused = send(client, body, spans='{"a": 1}', kind="spans")
    assert "spans must be a short JSON list of pairs" in refused
    assert not Annotation.objects.exists()
