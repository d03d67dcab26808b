"""A task type added by docs/how-to/add-a-task-type.md: annotated, voted on and released, with no other file touched."""

import gzip
import json
import re
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from annotation.campaigns.services.campaigns import NewConsent, NewSplit, campaign_create
from annotation.models import Annotation
from annotation.tasktypes.registry import TASK_TYPES, pages_of
from quality.models import Case, Verdict
from tests import factories
from tests.toytype.task import Choice
from tests.workforces.acts import by_link
from workforces.services.workforces import workforce_add

pytestmark = pytest.mark.django_db
CODES = {"code_completed": "C1", "code_screened_out": "C2", "code_nothing_left": "C3", "items_per_ticket": 2}


@pytest.fixture
def campaign(monkeypatch, settings):
    """Return a launched campaign of the toy type: one line of the registry, one folder of templates."""
    monkeypatch.setitem(TASK_TYPES, "choice", Choice())
    folder = Path(__file__).parent / "templates"
    settings.TEMPLATES = [{**settings.TEMPLATES[0], "DIRS": [*settings.TEMPLATES[0]["DIRS"], folder]}]
    made = campaign_create(
        slug="colours",
        title="Colours",
        task_type="choice",
        splits=[NewSplit("train", 3)],
        created_by=None,
        consent=NewConsent("For the tests.", "Answers.", "tests@example.org"),
        now=timezone.now(),
        seed=7,
    )
    factories.import_rows(made, [{"id": "sky", "text": "The sky 天空"}, {"id": "grass", "text": "Fresh grass"}])
    factories.launch(made)
    return made


COLOURS = {"The sky 天空": "blue", "Fresh grass": "green"}


def send(client, body, **fields):
    """Answer the form of a page as a browser without scripts does, and return the page that follows."""
    action = re.search(r'<form method="post" action="([^"]+/(?:stage|answer)/)"', body).group(1)
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', body))
    return client.post(action, {**hidden, **fields}, follow=True).content.decode()


def answer_all(client, body, colour=None):
    done = 0
    while found := re.search(r'id="question"[^>]*>([^<]+)<', body):
        body = send(client, body, label=colour or COLOURS[found.group(1)], comment="it is")
        done += 1
    return done


def member(campaign):
    person, client = factories.annotator(campaign), Client()
    client.force_login(person)
    return client


def test_it_is_annotated_voted_on_inspected_and_released(campaign, tmp_path):
    for _ in range(2):
        client = member(campaign)
        assert answer_all(client, client.post("/work/colours/", follow=True).content.decode()) == 2
    workforce = workforce_add(campaign=campaign, kind="link", terms=CODES, actor_id=None, now=timezone.now())
    visitor = Client()
    page = visitor.get(by_link(workforce, "p1", "s1"), follow=True)
    consent = re.search(r'action="([^"]*/agree/)".*?name="text" value="(\d+)"', page.content.decode(), re.DOTALL)
    body = visitor.post(consent.group(1), {"text": consent.group(2)}, follow=True).content.decode()
    assert answer_all(visitor, body) == 2
    factories.examine(campaign)
    assert {row.item.external_id: row.label for row in Verdict.objects.all()} == {"sky": "blue", "grass": "green"}
    assert set(Annotation.objects.values_list("via", flat=True)) == {"internal", "link"}

    boss = factories.user(is_admin=True)
    client = Client()
    client.force_login(boss)
    item = campaign.items.first()
    for address in (
        "",
        "items/",
        f"items/{item.pk}/",
        "summary/",
        "review/",
        "spot-checks/",
        "recruitment/",
        "guidelines/",
    ):
        assert client.get(f"/campaigns/colours/{address}").status_code == 200, address
    call_command("release", "colours", "--format", "labels", "--to", str(tmp_path))
    rows = [json.loads(line) for line in gzip.open(tmp_path / "train-labels.jsonl.gz")]
    assert {row["text"]: row["label"] for row in rows} == COLOURS
    votes = [json.loads(line) for line in gzip.open(tmp_path / "tables/judgments.jsonl.gz")]
    assert len(votes) == 6
    assert {"comment", "answer"}.isdisjoint(votes[0])  # what is typed freely stays here
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert (manifest["format"], manifest["splits"], manifest["shortfall"]) == ("labels", {"train": 2}, 0)


def test_no_agreement_goes_to_a_second_round_and_to_an_expert(campaign):
    for _round in range(2):
        for colour in ("red", "green", "blue"):
            client = member(campaign)
            answer_all(client, client.post("/work/colours/", follow=True).content.decode(), colour)
        factories.examine(campaign)
    assert Case.objects.filter(state="open").count() == 2
    expert, client = factories.user(), Client()
    factories.join(campaign, expert, "expert")
    client.force_login(expert)
    page = client.get("/campaigns/colours/cases/").content.decode()
    assert "The sky" in page or "Fresh grass" in page
    client.post("/campaigns/colours/cases/", {"case": Case.objects.first().pk, "label": "blue"})
    assert Verdict.objects.get(rule="expert").label == "blue"


def test_a_wrong_answer_is_refused_with_what_is_wrong(campaign):
    client = member(campaign)
    body = client.post("/work/colours/", follow=True).content.decode()
    assert "choose red, green or blue" in send(client, body, label="purple")
    assert not Annotation.objects.exists()


def test_its_pages_are_found_beside_it(campaign):
    assert pages_of("choice").key == "choice"
    assert [path for path, _ in pages_of("choice").paths] == ["red", "green", "blue"]
