"""The drill: a backup while people work, restored elsewhere, has every answer that was acknowledged before it."""

import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from annotation.models import Annotation
from jobs.services import job_enqueue
from storage.backups import BackupError, restore
from tests import factories
from tests.conftest import ROOT

pytestmark = pytest.mark.django_db(transaction=True)
slow = pytest.mark.slow
CHECK = """
import json
from django.db import DatabaseError, connection
from annotation.models import Annotation
from storage.backups import BackupError, restore
from jobs.models import Job
found = list(Annotation.objects.order_by("pk").values_list("pk", flat=True))
try:
    Annotation.objects.filter(pk=found[0]).update(answer={"label": 1})
    refused = False
except DatabaseError:
    refused = True
print("FOUND" + json.dumps([found, refused, list(Job.objects.filter(kind="annotation.import_items").order_by("created_at").values_list("state", flat=True))]))
"""


@contextmanager
def elsewhere(tmp_path):
    """Yield the environment of a new, empty installation on the same kind of database."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings.dev",
        "QUORATE_DATA": str(tmp_path / "new"),
        "SECRET_KEY": "",
        "CELERY_BROKER_URL": "",
    }
    if connection.vendor == "sqlite":
        yield environment | {"DATABASE_URL": f"sqlite:///{tmp_path}/new/quorate.sqlite3"}
        return
    known, name = connection.settings_dict, f"restored_{os.getpid()}_{threading.get_ident() % 10**6}"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name}")
    try:
        yield environment | {
            "DATABASE_URL": f"postgres://{known['USER']}:{known['PASSWORD']}@{known['HOST']}:{known['PORT']}/{name}"
        }
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP DATABASE {name} WITH (FORCE)")


def manage(environment, *arguments, **options):
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, timeout=120, **options)


@contextmanager
def at_work(campaign, people=4):
    """Have people answer in the background; yield the ids of what was acknowledged so far."""
    acknowledged, stop = [], threading.Event()

    def work(person):
        try:
            while not stop.is_set():
                acknowledged.append(factories.vote(campaign, person, 4).pk)
        except AssertionError:
            pass  # nothing is left
        finally:
            connection.close()

    crowd = [factories.annotator(campaign) for _ in range(people)]
    threads = [threading.Thread(target=work, args=(person,)) for person in crowd]
    for one in threads:
        one.start()
    try:
        yield acknowledged
    finally:
        stop.set()
        for one in threads:
            one.join()


@slow
def test_the_drill(tmp_path):
    campaign = factories.antique(items=150, n=1)
    name = default_storage.save(
        "queued", ContentFile(b'{"question_id": "q", "answer_id": "a", "question_text": "?", "answer_text": "!"}\n')
    )
    payload = {
        "campaign": str(campaign.pk),
        "file": name,
        "name": "x.jsonl",
        "pilot": False,
        "good_rows_only": True,
        "people": 1,
    }
    job_enqueue(kind="annotation.import_items", payload=payload, now=timezone.now(), scope_id=campaign.pk)
    call_command(
        "release", campaign.slug, "--format", "labels", "--to", str(Path(django_settings.DATA_DIR) / "releases/drill")
    )
    with at_work(campaign) as acknowledged:
        while len(acknowledged) < 20:
            pass
        before = set(acknowledged)
        call_command("backup", str(tmp_path / "backups"))
        until = time.monotonic() + 60
        while len(acknowledged) <= len(before):  # people go on
            assert time.monotonic() < until
    [archive] = (tmp_path / "backups").iterdir()
    (tmp_path / "new/documents").mkdir(parents=True)  # where another disk may be mounted
    with elsewhere(tmp_path) as environment:
        done = manage(environment, "restore", str(archive))
        assert done.returncode == 0, done.stderr
        assert manage(environment, "migrate", "--check").returncode == 0
        assert manage(environment, "worker", "--once").returncode == 0
        shown = manage(environment, "shell", "-c", CHECK)
        found, refused, jobs = json.loads(shown.stdout.decode().partition("FOUND")[2])
        again = manage(environment, "restore", str(archive))
    assert before <= set(found)
    assert set(found) <= set(Annotation.objects.values_list("pk", flat=True))
    assert refused  # the triggers came along
    assert jobs[-1] == "done"  # the queued import went on, with its upload
    assert not (tmp_path / "new/documents/documents").exists()
    folder = tmp_path / "new/releases/drill"
    for line in (folder / "SHA256SUMS").read_text().splitlines():
        digest, _, file = line.partition("  ")
        assert hashlib.sha256((folder / file).read_bytes()).hexdigest() == digest
    assert again.returncode != 0
    assert b"isn't empty" in again.stderr


@pytest.fixture
def archive(tmp_path):
    factories.campaign(items=1)
    call_command("backup", str(tmp_path / "backups"))
    [path] = (tmp_path / "backups").iterdir()
    return path.read_bytes()


def changed(archive, name, data):
    """Return an archive with one member changed, or added."""
    out = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(archive)) as old, tarfile.open(fileobj=out, mode="w") as new:
        members = {one.name: old.extractfile(one).read() for one in old}
        for member, content in {name: data, **members, **({name: data} if name in members else {})}.items():
            entry = tarfile.TarInfo(member)
            entry.size = len(content)
            new.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def resealed(archive, **changes):
    """Return an archive whose manifest says something else, and is believed otherwise."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as old:
        manifest = json.load(old.extractfile("manifest.json"))
    return changed(archive, "manifest.json", json.dumps({**manifest, **changes}).encode())


def with_member(archive, name, data):
    """Return an archive with one member changed, and a manifest that says so."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as old:
        files = json.load(old.extractfile("manifest.json"))["files"]
    files[name] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    return resealed(changed(archive, name, data), files=files)


@pytest.mark.parametrize(
    ("harm", "why"),
    [
        (lambda data: resealed(data, database="../../victim.sqlite3"), "has no database"),
        (lambda data: resealed(data, database="keys.json"), "has no database"),
        (lambda data: resealed(data, database=7), "has no database"),
        (lambda data: resealed(data, files={}), "is not as the manifest says"),
        (lambda data: resealed(data, files=[1]), "isn't that of a backup"),
        (lambda data: resealed(data, made_at="\x1b[2J"), "isn't that of a backup"),
        (lambda data: with_member(data, "keys.json", b'{"SECRET_KEY": "\\ud800"}'), "contains no key"),
        (lambda data: with_member(data, "keys.json", b'{"SECRET_KEY": ""}'), "contains no key"),
        (lambda data: with_member(data, "database.sqlite3", b"hello"), "isn't a database"),
        (lambda data: changed(data, "manifest.json", b"[]"), "isn't that of a backup"),
        (lambda data: changed(data, "manifest.json", b"[" * 100_000), "can't be read"),
    ],
)
def test_a_manifest_that_lies_is_a_sentence(archive, settings, tmp_path, monkeypatch, harm, why):
    if connection.vendor != "sqlite":
        pytest.skip("the archive holds what this database is")
    settings.DATA_DIR = tmp_path / "new"
    monkeypatch.setattr("storage.backups._refuse_unless_empty", lambda **_: None)
    (tmp_path / "victim.sqlite3").write_bytes(b"another installation's")
    with pytest.raises(BackupError, match=why):
        restore(io.BytesIO(harm(archive)))
    assert (tmp_path / "victim.sqlite3").read_bytes() == b"another installation's"
    assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.parametrize(
    ("harm", "why"),
    [
        (lambda data: data[: len(data) // 2], b"archive"),
        pytest.param(
            lambda data: changed(data, "keys.json", b"{}"), b"keys.json is not as the manifest says", marks=slow
        ),
        (lambda data: changed(data, "../outside", b"x"), b"has no place in a backup"),
        pytest.param(
            lambda data: changed(data, "documents/added", b"x"),
            b"documents/added is not as the manifest says",
            marks=slow,
        ),
        pytest.param(lambda data: b"nothing", b"archive", marks=slow),
    ],
)
def test_a_damaged_archive_changes_nothing(archive, tmp_path, harm, why):
    with elsewhere(tmp_path) as environment:
        refused = manage(environment, "restore", "-", input=harm(archive))
        assert refused.returncode != 0
        assert why in refused.stderr
        assert not (tmp_path / "outside").exists()
        assert [path.name for path in (tmp_path / "new").glob("*") if path.name != "secret_key"] in (
            [],
            ["quorate.sqlite3"],
        )
        assert manage(environment, "restore", "-", input=archive).returncode == 0


def test_a_backup_goes_to_standard_output_and_nothing_else_does(tmp_path):
    factories.campaign(items=1)
    known = connection.settings_dict
    url = (
        f"sqlite:///{known['NAME']}"
        if connection.vendor == "sqlite"
        else f"postgres://{known['USER']}@{known['HOST']}:{known['PORT']}/{known['NAME']}"
    )
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings.dev",
        "QUORATE_DATA": str(tmp_path),
        "DATABASE_URL": url,
    }
    done = manage(environment, "backup", "-")
    assert done.returncode == 0, done.stderr
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as tar:
        assert tar.getnames()[-1] == "manifest.json"


def test_a_backup_that_cannot_be_written_leaves_no_half_file(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("storage.tars.HashedTar.add_bytes", full)
    with pytest.raises((OSError, CommandError)):
        call_command("backup", str(tmp_path))
    assert list(tmp_path.iterdir()) == []


@slow
def test_the_marketplace_is_backed_up_and_restored_too(tmp_path):
    def environment(name):
        return {
            **os.environ,
            "QUORATE_DATA": str(tmp_path / name),
            "MARKETPLACE_DATABASE_URL": f"sqlite:///{tmp_path}/{name}/m.sqlite3",
        }

    (tmp_path / "old").mkdir()
    made = manage(environment("old"), "marketplace_requester", "lab", "--deposit", "12.50", "--json")
    assert made.returncode == 0, made.stderr
    copy = manage(environment("old"), "marketplace_backup", "-")
    assert copy.returncode == 0, copy.stderr
    restored = manage(environment("new"), "marketplace_restore", "-", input=copy.stdout)
    assert restored.returncode == 0, restored.stderr
    again = manage(environment("new"), "marketplace_requester", "lab", "--json")
    assert json.loads(again.stdout) == json.loads(made.stdout) | {"state": "found"}  # money, key and secret alike
    assert manage(environment("other"), "restore", "-", input=copy.stdout).returncode != 0
