"""What every installation holds to: logs without tokens, private files, limits that last, probes that tell the truth."""

import io
import logging
import logging.config
import os
import re
import shutil
import stat
import subprocess
import sys
import threading
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.conf import settings as django_settings
from django.core import mail
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from console import health
from console.checks import files_are_private, frames_are_signed
from console.health import Readiness, readiness
from database.cache import LastingDatabaseCache
from jobs.models import Heartbeat, Job
from jobs.ticks import tick
from tests import factories
from tests.conftest import ROOT
from tests.silent import silent_server
from web.logs import RedactingFormatter

TOKEN = "Zm9vYmFyc2VjcmV0dG9rZW4:1abc:x_-y"


@pytest.fixture
def lines():
    """Return what is written to the log, formatted as in every settings module."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(RedactingFormatter("%(name)s %(message)s"))
    logging.getLogger().addHandler(handler)
    yield stream
    logging.getLogger().removeHandler(handler)


@pytest.mark.django_db
@pytest.mark.parametrize("way", ["visit", "statement", "invite", "join"])
def test_tokens_of_addresses_are_in_no_log_line(lines, way):
    assert Client().get(f"/{way}/{TOKEN}/").status_code in (302, 403, 404)
    logging.getLogger("x").error("failed at /%s/%s/agree/", way, TOKEN)
    logging.getLogger("x").error("no", exc_info=ValueError(f"/{way}/{TOKEN}/"))
    assert f"/{way}/…/agree/" in lines.getvalue()
    assert "Zm9v" not in lines.getvalue()


def test_every_settings_module_writes_its_log_without_tokens_and_mails_no_reports():
    for module in ("prod", "dev", "marketplace"):
        code = (
            f"import os; os.environ['DJANGO_SETTINGS_MODULE']='config.settings.{module}'; import django; django.setup();"
            "import logging; logging.getLogger('django.request').error('Not Found: %s', '/join/abcdefsecret/');"
            "print([type(one).__name__ for one in logging.getLogger('django').handlers])"
        )
        environment = {
            **os.environ,
            "SECRET_KEY": "k9" * 10 + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQR",
            "ALLOWED_HOSTS": "a.example",
            "EMAIL_URL": "consolemail://",
            "DEFAULT_FROM_EMAIL": "a@a.example",
            "TRUSTED_PROXY_COUNT": "1",
            "QUORATE_DATA": str(django_settings.DATA_DIR),
        }
        done = subprocess.run([sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert ("/join/…" in done.stderr, "secret" in done.stderr, done.stdout.strip()) == (True, False, "[]"), module


@pytest.mark.django_db
def test_pages_with_a_token_in_their_address_send_no_referrer_to_other_sites():
    for address in ("/account/login/", f"/statement/{TOKEN}/", f"/visit/{TOKEN}/"):
        assert Client().get(address)["Referrer-Policy"] == "same-origin"


def test_what_commands_write_is_readable_by_the_owner_only(tmp_path):
    folder = tmp_path / "data"
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings.dev",
        "QUORATE_DATA": str(folder),
        "DATABASE_URL": "",
    }
    del environment["DATABASE_URL"]
    code = "import os; os.umask(0o022); import runpy, sys; sys.argv = ['manage.py', 'migrate', '-v0']; runpy.run_path('manage.py', run_name='__main__')"
    subprocess.run([sys.executable, "-c", code], env=environment, cwd=ROOT, check=True, timeout=120)
    found = [folder, *folder.rglob("*")]
    assert len(found) > 1
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in found} == {0}
    for module in ("config.wsgi", "config.celery"):
        code = f"import os; os.umask(0o022); import {module}; print(oct(os.umask(0)))"
        shown = subprocess.run([sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True)
        assert shown.stdout.strip() == "0o77", shown.stderr


def test_a_check_warns_of_files_that_others_can_read(settings, tmp_path, monkeypatch):
    folder, database = tmp_path / "data", tmp_path / "data" / "a.sqlite3"
    folder.mkdir(mode=0o700)
    database.touch(mode=0o644)
    settings.DATA_DIR = folder
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", "django.db.backends.sqlite3")
    monkeypatch.setitem(settings.DATABASES["default"], "NAME", database)
    assert files_are_private() == []  # nobody else can enter the folder
    folder.chmod(0o755)
    database.chmod(0o644)
    assert [one.id for one in files_are_private()] == ["quorate.W001"] * 2


def test_a_check_warns_of_a_marketplace_without_the_secret_of_its_frames(settings):
    settings.MTURK_ENDPOINT_URL, settings.MTURK_FRAME_SECRET = "http://127.0.0.1:1", ""
    assert [one.id for one in frames_are_signed()] == ["quorate.W002"]
    settings.MTURK_FRAME_SECRET = "x"
    assert frames_are_signed() == []


@pytest.mark.django_db
def test_limits_are_not_forgotten_when_strangers_fill_the_cache():
    call_command("createcachetable", "limits_test")
    lasting = LastingDatabaseCache("limits_test", {"OPTIONS": {"MAX_ENTRIES": 20}})
    lasting.set("failures-of-one", 5, 600)
    for number in range(60):
        lasting.set(f"stranger-{number}", 1, 600)
    assert lasting.get("failures-of-one") == 5
    lasting.set("over", 1, -1)
    lasting.set("one-more", 1, 600)
    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM limits_test")
        assert cursor.fetchone()[0] == 62  # what expired goes
        cursor.execute("DROP TABLE limits_test")


@pytest.mark.django_db(transaction=True)
def test_a_class_behind_one_address_logs_in_together():
    cache.clear()
    people = [factories.user() for _ in range(25)]
    answers = []

    def log_in(person):
        sent = {"login": person.email, "password": "correct horse battery"}
        answers.append(Client().post("/account/login/", sent).status_code)
        connection.close()

    for begin in range(0, 25, 5):
        threads = [threading.Thread(target=log_in, args=(person,)) for person in people[begin : begin + 5]]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    assert answers == [302] * 25


@pytest.mark.django_db
def test_failed_logins_are_limited_by_account_and_by_address(settings):
    cache.clear()
    settings.LOGIN_FAILURES_PER_ADDRESS, settings.LOGIN_FAILURES_PER_ACCOUNT = 12, 8
    victim, other = factories.user(), factories.user()

    def log_in(person, password, address="10.0.0.1"):
        sent = {"login": person.email, "password": password}
        return Client(REMOTE_ADDR=address).post("/account/login/", sent).status_code

    for _ in range(5):
        assert log_in(victim, "wrong") == 200
    assert log_in(victim, "correct horse battery") == 200  # refused: too many were wrong
    assert log_in(victim, "correct horse battery", "10.0.0.9") == 302  # its owner, from elsewhere, gets in
    for number in range(3):
        log_in(victim, "wrong", f"10.0.1.{number}")
    assert log_in(victim, "correct horse battery", "10.0.0.9") == 200  # guessed at from many places
    assert log_in(other, "correct horse battery") == 302
    for number in range(10):
        log_in(factories.user(f"nobody{number}"), "wrong")
    assert log_in(other, "correct horse battery") == 200  # the address is over its limit
    assert log_in(other, "correct horse battery", "10.0.0.2") == 302
    cache.clear()


@pytest.mark.django_db
def test_nobody_logs_in_by_someone_elses_address(settings):
    settings.ACCOUNT_EMAIL_VERIFICATION = "none"
    anna, rosa = factories.user("anna"), factories.user("rosa")
    client = Client()
    client.force_login(anna)
    client.post("/account/email/", {"action_add": "", "email": rosa.email})
    assert client.post("/account/email/", {"action_primary": "", "email": rosa.email}).status_code == 302
    anna.refresh_from_db()
    assert anna.email == "anna@example.org"
    client.logout()
    client.post("/account/login/", {"login": rosa.email, "password": "correct horse battery"})
    assert client.session["_auth_user_id"] == str(rosa.pk)


@pytest.mark.django_db
def test_every_page_turns_off_what_it_does_not_use():
    assert "camera=()" in Client().get("/account/login/")["Permissions-Policy"]


@pytest.mark.django_db
def test_ready_means_that_work_can_be_done_and_is_looked_at(settings, monkeypatch):
    def ready():
        readiness.forget()
        answer = Client().get("/readyz")
        return answer.status_code, answer.content.decode()

    assert ready() == (503, "no worker was seen lately\n")
    assert tick(now=timezone.now())
    assert ready() == (200, "ok\n")
    assert not Heartbeat.objects.filter(name="ready").exists()
    Heartbeat.objects.update(at=timezone.now() - timedelta(minutes=2))
    assert ready()[0] == 503
    Heartbeat.objects.update(at=timezone.now())
    usage = SimpleNamespace(free=0)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage)
    assert ready() == (503, "the disk is nearly full\n")
    monkeypatch.undo()
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    from config.celery import app

    monkeypatch.setattr(app.conf, "broker_url", settings.CELERY_BROKER_URL)
    assert ready() == (503, "the broker doesn't respond\n")
    assert Client().get("/healthz").content == b"ok\n"


@pytest.mark.django_db
def test_a_lane_without_a_worker_is_named():
    def ready():
        readiness.forget()
        answer = Client().get("/readyz")
        return answer.status_code, answer.content.decode()

    now = timezone.now()
    assert tick(now=now)
    waiting = Job.objects.create(kind="exports.write", lane="bulk", created_at=now, due_at=now - timedelta(seconds=60))
    assert ready() == (200, "ok\n")
    Job.objects.filter(pk=waiting.pk).update(due_at=now - timedelta(seconds=105))
    status, said = ready()
    assert status == 503 and re.fullmatch(r"the lane bulk has had no worker for 10\d seconds\n", said)
    other = Job.objects.create(
        kind="annotation.import_items",
        lane="bulk",
        state="running",
        created_at=now,
        due_at=now - timedelta(hours=1),
        lease_until=now + timedelta(seconds=60),
    )
    assert ready() == (200, "ok\n")  # it waits for a long import
    Job.objects.filter(pk=other.pk).update(lease_until=now - timedelta(seconds=1))  # whose worker was killed
    assert ready()[0] == 503
    Job.objects.filter(pk=other.pk).update(lane="upkeep", lease_until=now + timedelta(seconds=60))
    assert "the lane bulk" in ready()[1]  # another lane's worker does not help


@pytest.fixture
def silent_broker(settings, monkeypatch):
    """Return who connected to a broker that takes connections and never answers."""
    from config.celery import app

    with silent_server() as (port, came):
        settings.CELERY_BROKER_URL = f"redis://127.0.0.1:{port}/0"
        monkeypatch.setattr(app.conf, "broker_url", settings.CELERY_BROKER_URL)
        yield came


def test_a_frozen_broker_keeps_one_probe_waiting_however_many_ask(silent_broker, monkeypatch):
    monkeypatch.setattr(health, "_DATABASE", ())
    monkeypatch.setattr(health, "BROKER_SECONDS", 0.2)
    asked = Readiness(health.problems)
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(asked.problems(timezone.now())), daemon=True) for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(answers) == 20  # nobody waits for ever
    assert set(answers) <= {("the first check is still running",), ("the broker doesn't respond",)}
    connections = len(silent_broker)
    assert 1 <= connections <= 3  # of one look, with what kombu tries again
    assert asked.problems(timezone.now()) == ("the broker doesn't respond",)
    assert len(silent_broker) == connections  # what was found is kept
    asked.forget()
    assert asked.problems(timezone.now()) == ("the broker doesn't respond",)
    assert len(silent_broker) > connections


@pytest.mark.django_db
def test_probes_are_answered_without_a_redirect(settings):
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
    readiness.forget()
    assert Client().get("/healthz").status_code == 200
    assert Client().get("/readyz").status_code == 503
    assert Client().get("/account/login/").status_code == 301


def test_the_marketplace_says_that_it_needs_a_database_of_its_own():
    environment = {**os.environ, "DATABASE_URL": "sqlite:////tmp/one.sqlite3"}
    wrong = environment | {"MARKETPLACE_DATABASE_URL": "sqlite:////tmp/one.sqlite3"}
    command = [sys.executable, "manage.py", "marketplace_requester", "--help"]
    environment["QUORATE_DATA"] = wrong["QUORATE_DATA"] = str(django_settings.DATA_DIR)
    assert subprocess.run(command, env=environment, cwd=ROOT, capture_output=True).returncode == 0
    refused = subprocess.run(command, env=wrong, cwd=ROOT, capture_output=True, text=True)
    assert refused.returncode != 0
    assert "each service has its own" in refused.stderr


def test_whatever_makes_the_data_folder_first_makes_it_private(tmp_path):
    """Tools that load the settings without manage.py have the umask of their caller."""
    code = "import os; os.umask(0o022); from pathlib import Path; from storage.secrets import kept_secret; import sys; kept_secret(Path(sys.argv[1]) / 'secret_key')"
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "var")], cwd=ROOT, check=True)
    assert stat.S_IMODE((tmp_path / "var").stat().st_mode) == 0o700


@pytest.mark.django_db
def test_no_page_of_someone_who_is_logged_in_is_kept(client):
    campaign = factories.campaign(items=1)
    client.force_login(factories.user(is_admin=True))
    for path in ("/", "/jsi18n/", "/account/email/", f"/campaigns/{campaign.slug}/members/", "/healthz"):
        assert client.get(path).headers["Cache-Control"] == "private, no-store", path
    assert "Cache-Control" not in Client().get("/healthz").headers


@pytest.mark.django_db
def test_mails_lead_to_our_address_whatever_the_request_says(client, settings):
    settings.PLATFORM_URL = "https://quorate.example"
    person = factories.user("p")
    client.post("/account/password/reset/", {"email": person.email}, headers={"host": "localhost:9999"})
    assert re.findall(r"https?://[^/\s]+", mail.outbox[0].body) == ["https://quorate.example"]
    assert "9999" not in mail.outbox[0].body + mail.outbox[0].subject
