"""`doctor`: each planted fault is found, with what to do about it, and nothing else is said."""

import io
import os
import threading
import time
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from console import doctor
from database import redis_cache
from database.cache import caches_of
from jobs.models import Heartbeat, Job
from jobs.ticks import tick
from tests import factories
from tests.silent import silent_server
from web import readiness

pytestmark = pytest.mark.django_db(transaction=True)  # networks are asked outside of transactions


@contextmanager
def website(location=""):
    """Yield the address of a server that answers every request, or redirects it."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(301 if location else 200)
            if location:
                self.send_header("Location", f"{address}{self.path}")
            self.end_headers()

        def log_message(self, *_args):
            """Print nothing."""

    server = HTTPServer(("127.0.0.1", 0), Answer)
    address = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield address
    server.shutdown()
    server.server_close()


@pytest.fixture
def healthy(settings, monkeypatch, tmp_path):
    """Make an installation in which all is well, but for the settings of tests; return its folder of backups."""
    monkeypatch.setattr(doctor, "SECONDS", 1)
    monkeypatch.setattr(doctor, "PRODUCTION", os.environ["DJANGO_SETTINGS_MODULE"])
    monkeypatch.setattr(doctor, "run_checks", lambda **_options: [])
    tick(now=timezone.now())
    factories.user(is_admin=True)
    (tmp_path / "quorate-20261122T101500Z.tar").touch()
    settings.EMAIL_BACKEND = "tests.console.test_doctor.Reached"
    with website() as address:
        settings.PLATFORM_URL, settings.ALLOWED_HOSTS = address, ["127.0.0.1"]
        yield tmp_path


class Reached:
    """A mail backend whose server answers."""

    def __init__(self, **_options):
        pass

    def open(self):
        pass

    def close(self):
        pass


def said(backups):
    return [one for _area, found in doctor.examine(timezone.now(), backups) for one in found]


def test_nothing_is_said_where_all_is_well(healthy):
    assert said(healthy) == []
    out = io.StringIO()
    call_command("doctor", "--backups", str(healthy), stdout=out)
    assert [line.split()[0] for line in out.getvalue().splitlines()] == ["ok"] * 9


def development(world):
    world.patch.setattr(doctor, "PRODUCTION", "config.settings.prod")


def other_host(world):
    world.settings.ALLOWED_HOSTS = ["quorate.example"]


def other_packages(world):
    world.patch.setattr(doctor, "_installed", lambda name: "0.1" if name == "django" else doctor.version(name))


def no_migrations(world):
    class Never:
        def __call__(self):
            return False

        def cache_clear(self):
            """Nothing is kept."""

    world.patch.setattr(readiness, "_is_migrated", Never())


def no_worker(world):
    Heartbeat.objects.all().delete()


def no_worker_of_a_lane(world):
    now = timezone.now()
    Job.objects.create(kind="exports.write", lane="bulk", created_at=now, due_at=now - timedelta(minutes=5))


def full_disk(world):
    world.patch.setattr(readiness.shutil, "disk_usage", lambda _path: SimpleNamespace(free=0))


def no_redis(world):
    world.patch.setattr(redis_cache.RedisOrRows, "_away_until", 0.0)
    made = caches_of(
        {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://127.0.0.1:1/0"}, "unused"
    )
    made["rows"] = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
    world.settings.CACHES = made


def no_broker(world):
    from config.celery import app

    world.settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    world.patch.setattr(app.conf, "broker_url", world.settings.CELERY_BROKER_URL)


def no_administrator(world):
    doctor.User.objects.update(is_admin=False)


def no_room_for_files(world):
    (world.folder / "a file").touch()
    options = {"location": world.folder / "a file" / "below"}
    world.settings.STORAGES = world.settings.STORAGES | {
        "documents": {**world.settings.STORAGES["documents"], "OPTIONS": options}
    }


def no_mail(world):
    world.settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"


def silent_mail(world):
    world.settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    world.settings.EMAIL_HOST, world.settings.EMAIL_PORT = "127.0.0.1", world.silent


def nobody_at_the_address(world):
    world.settings.PLATFORM_URL = "http://127.0.0.1:1"


def no_certificate(world):
    world.settings.PLATFORM_URL = world.settings.PLATFORM_URL.replace("http:", "https:")


def proxy_without_a_header(world):
    world.settings.PLATFORM_URL = world.redirecting


def no_marketplace(world):
    world.settings.MTURK_ENDPOINT_URL = "http://127.0.0.1:1"
    world.settings.MTURK_ACCESS_KEY_ID = world.settings.MTURK_SECRET_ACCESS_KEY = "x"


def no_backup(world):
    for path in world.folder.glob("*.tar"):
        path.unlink()


def old_backup(world):
    for path in world.folder.glob("*.tar"):
        os.utime(path, (time.time() - 30 * 3600,) * 2)


@pytest.mark.parametrize(
    ("plant", "problem", "remedy"),
    [
        (development, "for development", "DJANGO_SETTINGS_MODULE=config.settings.prod"),
        (other_host, "PLATFORM_URL names 127.0.0.1", "ALLOWED_HOSTS"),
        (other_packages, "django 0.1 (wanted", "pip install --require-hashes"),
        (no_migrations, "migrations are not applied", "manage.py migrate"),
        (no_worker, "no worker was seen", "Start a worker for each lane"),
        (no_worker_of_a_lane, "the lane bulk has had no worker", "worker -Q LANE"),
        (full_disk, "the disk is nearly full", "Make room"),
        (no_redis, "the cache doesn't respond", "CACHE_URL"),
        (no_broker, "the broker doesn't respond", "CELERY_BROKER_URL"),
        (no_administrator, "there is no administrator", "createsuperuser"),
        (no_room_for_files, "the storage of documents can't be written", "QUORATE_DATA"),
        (no_mail, "no email is sent", "EMAIL_URL"),
        (silent_mail, "the mail server at 127.0.0.1", "EMAIL_URL"),
        (nobody_at_the_address, "can't be reached", "the firewall, the proxy"),
        (no_certificate, "can't be reached", "its certificate"),
        (proxy_without_a_header, "redirects to itself", "X-Forwarded-Proto"),
        (no_marketplace, "the marketplace at http://127.0.0.1:1", "MTURK_ACCESS_KEY_ID"),
        (no_backup, "there is no backup", "manage.py backup"),
        (old_backup, "is 30 hours old", "timer"),
    ],
)
def test_a_planted_fault_is_found_with_its_remedy(healthy, settings, monkeypatch, plant, problem, remedy):
    with silent_server() as (silent, _came), website("itself") as redirecting:
        plant(
            SimpleNamespace(
                settings=settings, patch=monkeypatch, folder=healthy, silent=silent, redirecting=redirecting
            )
        )
        [found] = said(healthy)
    assert problem in found.problem and remedy in found.remedy
    assert found.is_warning == (plant is no_mail)


def test_pg_dump_is_there_and_as_new_as_the_server(monkeypatch):
    monkeypatch.setattr(doctor.shutil, "which", lambda _program: None)
    assert [one.problem for one in doctor._dump_program()] == ["pg_dump is not installed"]
    monkeypatch.undo()
    monkeypatch.setattr(doctor.shutil, "which", lambda _program: "/usr/bin/pg_dump")
    monkeypatch.setattr(
        doctor.subprocess,
        "run",
        lambda *_a, **_k: SimpleNamespace(stdout="pg_dump (PostgreSQL) 15.7 (Debian 15.7-0)\n"),
    )
    server = SimpleNamespace(ensure_connection=lambda: None, pg_version=160003)
    monkeypatch.setattr(doctor, "connection", server)
    assert [one.problem for one in doctor._dump_program()] == ["pg_dump 15 is older than the server, 16"]
    server.pg_version = 150007
    assert list(doctor._dump_program()) == []


def test_the_command_ends_with_an_error_and_the_number_of_problems(healthy, settings):
    settings.PLATFORM_URL = "http://127.0.0.1:1"
    out = io.StringIO()
    with pytest.raises(CommandError, match="1 problem found"):
        call_command("doctor", "--json", stdout=out)
    assert '"area":"address"' in out.getvalue()
