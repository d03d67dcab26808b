"""``manage.py crowd``: a campaign of a running platform is brought to life, and says so from then on."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from accounts.models import AuditEvent
from annotation.models import Annotation, Campaign
from tests import factories, writing

pytestmark = pytest.mark.django_db(transaction=True)


def enlivened(campaign, url, *arguments, people=3):
    out = StringIO()
    call_command(
        "crowd", campaign.slug, "--url", url, "--people", str(people), "--seconds", "60", *arguments, stdout=out
    )
    campaign.refresh_from_db()
    return out.getvalue()


@pytest.mark.parametrize("make", [lambda: factories.antique(items=3, n=2), lambda: factories.campaign(n=2, items=3)])
def test_a_crowd_answers_whatever_a_campaign_asks(make, live_server):
    campaign = make()
    said = enlivened(campaign, live_server.url)
    assert Annotation.objects.filter(campaign=campaign, state="counted").count() == 6
    assert "by 3 people" in said
    assert said.rstrip().endswith("0 are open")
    assert campaign.is_synthetic
    assert AuditEvent.objects.get(action="campaign_mark_synthetic").scope_id == campaign.pk


def test_a_crowd_writes_questions(live_server):
    campaign = writing.campaign("kbqa", options={"review": False, "recovery": False})
    enlivened(campaign, live_server.url, people=1)  # of several, whoever came first might not read
    [found] = Annotation.objects.filter(campaign=campaign, state="counted")
    assert "高等数学" in found.answer["question"]


def test_the_work_of_people_is_not_marked_by_accident(live_server):
    campaign = factories.antique(items=2, n=2)
    factories.vote(campaign, factories.annotator(campaign), 3)
    with pytest.raises(CommandError, match="holds answers of people"):
        enlivened(campaign, live_server.url)
    assert not Campaign.objects.get().is_synthetic
    enlivened(campaign, live_server.url, "--mixed")
    assert campaign.is_synthetic
    enlivened(campaign, live_server.url)  # a second time nothing is asked


def test_what_a_crowd_answered_is_released_with_its_mark(live_server, tmp_path):
    import json

    campaign = factories.antique(items=2, n=3)
    enlivened(campaign, live_server.url)
    factories.examine(campaign)
    call_command("release", campaign.slug, format="antique", to=tmp_path / "out", stdout=StringIO(), stderr=StringIO())
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["synthetic"] is True


def test_what_cannot_be_enlivened_is_said(live_server, monkeypatch):
    monkeypatch.setattr("simulation.crowd.MOST_UNREACHABLE", 3)  # else it tries 60 times
    campaign = factories.antique(items=1)
    with pytest.raises(CommandError, match="does not answer"):
        enlivened(campaign, "http://127.0.0.1:9")
    with pytest.raises(CommandError, match="1 to 1,000"):
        enlivened(campaign, live_server.url, people=0)
    Campaign.objects.update(state="closed")
    with pytest.raises(CommandError, match="nothing is handed out"):
        enlivened(campaign, live_server.url)
