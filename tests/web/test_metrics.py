"""Metrics: each state parses with Prometheus's own parser, several processes add up, and labels stay few."""

import os
import subprocess
import sys
import urllib.request
from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.urls import URLResolver, get_resolver
from django.utils import timezone

from accounts.models import Surrogate
from annotation.models import CampaignState
from console import metrics as readings
from console.serving import any_port, stop_children, wait_until_up, web_command
from jobs.models import Job, JobState
from jobs.ticks import tick
from quality.models import QualitySnapshot
from tests import factories
from tests.conftest import ROOT
from tests.guards.world import World
from web import metrics
from workforces.models import Errand, Ticket
from workforces.services.pay import bonus_paid

TOKEN = "only-for-these-tests"
MOST_GROUPS = 60


@pytest.fixture
def client(settings):
    settings.METRICS_TOKEN = TOKEN
    return Client(headers={"authorization": f"Bearer {TOKEN}"})


def scrape(client):
    answer = client.get("/metrics")
    assert answer.status_code == 200
    return parsed(answer.content.decode())


def parsed(text):
    # Imported before the service does, the library would count for one process only.
    from prometheus_client.parser import text_string_to_metric_families

    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            key = (sample.name, *sorted(sample.labels.items()))
            assert key not in found
            found[key] = sample.value
    return found


@pytest.mark.django_db
@pytest.mark.parametrize("sent", ["", "Bearer ", "Bearer another", TOKEN])
def test_without_the_token_there_is_nothing(client, settings, sent):
    assert client.get("/metrics", headers={"authorization": sent}).status_code == 404
    settings.METRICS_TOKEN = ""
    assert client.get("/metrics", headers={"authorization": sent}).status_code == 404


@pytest.mark.django_db
def test_a_scrape_tells_what_waits_and_what_was_done(client, django_capture_on_commit_callbacks):
    tick(now=timezone.now())
    empty = scrape(client)
    assert empty["quorate_jobs_unfinished", ("lane", "bulk")] == 0
    assert empty["quorate_worker_silent_seconds",] < 60
    campaign = factories.antique(items=2, n=1, gold=2)
    person = factories.annotator(campaign)
    with django_capture_on_commit_callbacks(execute=True):
        factories.vote(campaign, person, 4)
    now = timezone.now()
    waiting = {"kind": "quality.examine", "lane": "upkeep", "created_at": now}
    Job.objects.create(due_at=now - timedelta(seconds=300), **waiting)
    Job.objects.create(due_at=now, state=JobState.FAILED, **waiting)
    gold = {"states": {"active": 2}, "newcomers_left": 3}
    QualitySnapshot.objects.update_or_create(campaign=campaign, defaults={"taken_at": now, "data": {"gold": gold}})
    client.get("/account/login/")
    found = scrape(client)
    answers = ("quorate_answers_total", ("task_type", "antique"))
    assert found[answers] - empty.get(answers, 0) == 1
    assert found["quorate_jobs_oldest_seconds", ("lane", "upkeep")] >= 300
    assert found["quorate_jobs_failed",] == 1
    assert found["quorate_campaigns_open",] == 1
    assert found["quorate_gold_newcomers_left",] == 3
    assert found["quorate_responses_total", ("group", "allauth.account"), ("status", "2xx")] >= 1
    assert found["quorate_request_seconds_count", ("group", "allauth.account")] >= 1
    assert found["quorate_database_up",] == 1
    campaign.state = CampaignState.CLOSED
    campaign.save()
    assert "quorate_gold_newcomers_left" not in {key[0] for key in scrape(client)}


@pytest.mark.django_db
def test_a_scrape_tells_what_was_paid(client, django_capture_on_commit_callbacks):
    world, now = World(), timezone.now()
    ticket = Ticket.objects.create(
        workforce=world.link,
        surrogate=Surrogate.objects.create(),
        remote_id="r",
        code="c",
        state="approved",
        opened_at=now,
    )
    errand = Errand.objects.create(
        workforce=world.link, kind="bonus", ticket=ticket, cents=12, token="paid", state="done", due_at=now
    )
    bonuses = ("quorate_paid_cents_total", ("kind", "bonus"))
    before = scrape(client).get(bonuses, 0)
    with django_capture_on_commit_callbacks(execute=True):
        bonus_paid(errand=errand, now=now)
        bonus_paid(errand=errand, now=now)  # the same one: paid once
    assert scrape(client)[bonuses] - before == 12


@pytest.mark.django_db
def test_a_scrape_of_an_installation_without_a_database_says_so(client, monkeypatch):
    def fail(*_arguments, **_options):
        raise OperationalError("gone")

    monkeypatch.setattr(connection, "cursor", fail)
    found = scrape(client)
    assert found["quorate_database_up",] == 0
    assert "quorate_jobs_failed" not in {key[0] for key in found}


@pytest.mark.django_db
def test_a_folder_that_cannot_be_written_makes_nothing_fail(settings, tmp_path, caplog):
    (tmp_path / "file").write_text("")
    settings.METRICS_TOKEN, settings.METRICS_DIR = TOKEN, tmp_path / "file" / "platform"
    metrics.Count("quorate_test_only", "Only for this test").add()
    assert "metrics can't be written" in caplog.text


@pytest.mark.django_db
def test_no_label_grows_with_people_items_or_campaigns(client):
    _grow()
    few = {key for key in scrape(client) if key[0].startswith("quorate_jobs")}
    for _ in range(3):
        _grow()
    assert {key for key in scrape(client) if key[0].startswith("quorate_jobs")} == few
    assert len(_groups(get_resolver())) < MOST_GROUPS


def _grow():
    campaign = factories.antique(items=4, n=2)
    for _ in range(2):
        factories.vote(campaign, factories.annotator(campaign), 4)


def _groups(resolver):
    found = set()
    for one in resolver.url_patterns:
        nested = isinstance(one, URLResolver)
        found |= _groups(one) if nested else {".".join(one.callback.__module__.split(".")[:2])}
    return found


@pytest.mark.django_db
def test_no_statement_of_a_scrape_counts_finished_work(client):
    campaign = factories.antique(items=2, n=1)
    factories.vote(campaign, factories.annotator(campaign), 4)
    with connection.execute_wrapper(_refuse_finished):
        list(readings.readings(timezone.now()))


def _refuse_finished(execute, sql, params, many, context):
    for table in ("annotation_annotation", "annotation_assignment", "annotation_item", "workforces_ledgerentry"):
        assert f'"{table}"' not in sql
    return execute(sql, params, many, context)


@pytest.mark.on_sqlite
def test_processes_add_up_and_the_counts_of_ended_ones_stay(tmp_path):
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings.dev",
        "QUORATE_DATA": str(tmp_path),
        "QUORATE_DEBUG": "1",  # static files need no collecting
        "DATABASE_URL": f"sqlite:///{tmp_path}/app.sqlite3",
        "CELERY_BROKER_URL": "",
        "QUORATE_METRICS_TOKEN": TOKEN,
        "QUORATE_METRICS_DIR": str(tmp_path / "metrics"),
    }
    manage = [sys.executable, str(ROOT / "manage.py")]
    subprocess.run([*manage, "migrate", "-v0"], env=environment, check=True, cwd=ROOT)
    counted = 0
    for _ in range(2):  # the second start finds the files of the first
        address = f"127.0.0.1:{any_port()}"
        server = subprocess.Popen(web_command(address), env=environment, cwd=ROOT)
        try:
            wait_until_up(address, child=server)
            for _ in range(20):
                urllib.request.urlopen(f"http://{address}/account/login/", timeout=20).close()
            counted += 20
            request = urllib.request.Request(f"http://{address}/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
            with urllib.request.urlopen(request, timeout=20) as answer:
                found = parsed(answer.read().decode())
        finally:
            stop_children([server])
        assert found["quorate_responses_total", ("group", "allauth.account"), ("status", "2xx")] == counted
    folder = tmp_path / "metrics" / "platform"
    assert "counter_0.db" in {path.name for path in folder.iterdir()}
    assert len(list(folder.glob("counter_*.db"))) <= 3  # two workers, and all that ended


def test_metrics_on_without_a_folder_in_memory_stop_the_start(tmp_path):
    environment = {"PATH": os.environ["PATH"], "QUORATE_DATA": str(tmp_path), "QUORATE_METRICS_TOKEN": TOKEN}
    command = [sys.executable, str(ROOT / "manage.py"), "check"]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode
    assert "QUORATE_METRICS_DIR" in done.stderr
