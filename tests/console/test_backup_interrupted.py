"""Backups and restores that are killed or can't write: nothing is left running, and the next run begins clean."""

import io
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.core.management import call_command

from storage import backups
from storage.backups import BackupError, restore
from tests.conftest import ROOT

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.on_sqlite]


@pytest.fixture
def environment(tmp_path):
    """Return the environment of a new installation on SQLite, with its tables."""
    made = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings.dev",
        "QUORATE_DATA": str(tmp_path / "data"),
        "DATABASE_URL": f"sqlite:///{tmp_path}/data/quorate.sqlite3",
        "CELERY_BROKER_URL": "",
    }
    (tmp_path / "data/documents").mkdir(parents=True)
    (tmp_path / "data/documents/large").write_bytes(os.urandom(2_000_000))
    manage(made, "migrate", "-v0", check=True)
    return made


def manage(environment, *arguments, **options):
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, timeout=300, **options)


def started(environment, *arguments, until):
    """Start a command, wait until something holds, and kill it."""
    child = subprocess.Popen(
        [sys.executable, "manage.py", *arguments], env=environment, cwd=ROOT, stdout=subprocess.PIPE
    )
    end = time.monotonic() + 300
    while not until() and time.monotonic() < end:
        time.sleep(0.05)
    assert until()
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()


def lives(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


def test_what_a_killed_backup_leaves_is_deleted_by_the_next(environment, tmp_path):
    data = tmp_path / "data"
    started(environment, "backup", "-", until=lambda: list(data.glob(".backup-*/*.sqlite3")))  # nobody reads the pipe
    assert list(data.glob(".backup-*/*.sqlite3"))
    (tmp_path / "copies").mkdir()
    (tmp_path / "copies/quorate-20261122T101500Z.part").write_bytes(b"half of one")
    done = manage(environment, "backup", str(tmp_path / "copies"))
    assert done.returncode == 0, done.stderr
    assert list(data.glob(".backup-*")) == []
    [made] = (tmp_path / "copies").iterdir()
    assert made.suffix == ".tar"


def test_a_killed_backup_leaves_no_dump_running(environment, tmp_path):
    programs, noted = tmp_path / "programs", tmp_path / "pid"
    programs.mkdir()
    (programs / "pg_dump").write_text(f"#!/bin/sh\necho $$ > {noted}\nexec sleep 300\n")
    (programs / "pg_dump").chmod(0o755)
    on_postgresql = {
        **environment,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none",
    }
    started(
        on_postgresql, "backup", str(tmp_path / "copies"), until=lambda: noted.exists() and noted.read_text().strip()
    )
    pid, end = int(noted.read_text()), time.monotonic() + 30
    while lives(pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert not lives(pid)


def test_what_a_killed_restore_moved_is_moved_again(environment, tmp_path, settings, monkeypatch):
    archive = manage(environment, "backup", "-").stdout
    settings.DATA_DIR = tmp_path / "new"
    monkeypatch.setattr(backups.connection.introspection, "table_names", list)
    placed = []

    def killed(_copy):
        raise KeyboardInterrupt

    monkeypatch.setattr(backups, "_database_restore", killed)
    with pytest.raises(KeyboardInterrupt):
        restore(io.BytesIO(archive))
    assert (tmp_path / "new" / backups.INTERRUPTED).exists()
    (tmp_path / "new/documents/large").write_bytes(b"half")  # as if it was killed while it moved this one
    monkeypatch.setattr(backups, "_database_restore", placed.append)
    aside = restore(io.BytesIO(archive))["aside"]
    assert len(placed) == 1
    assert (aside / "documents/large").read_bytes() == b"half"  # nothing is deleted: it may be someone's work
    assert (tmp_path / "new/documents/large").read_bytes() == (tmp_path / "data/documents/large").read_bytes()
    assert not (tmp_path / "new" / backups.INTERRUPTED).exists()
    assert not list((tmp_path / "new").glob(".restore*"))


def test_a_restore_over_a_database_is_refused_also_after_one_that_was_interrupted(tmp_path, settings):
    settings.DATA_DIR = tmp_path
    with pytest.raises(BackupError, match="isn't empty"):
        restore(io.BytesIO(b""))
    (tmp_path / backups.INTERRUPTED).touch()
    with pytest.raises(BackupError, match="had finished"):
        restore(io.BytesIO(b""))


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))


@pytest.mark.slow
def test_faults_are_sentences(environment, tmp_path):
    file, data = tmp_path / "file", tmp_path / "data"
    file.write_text("no backup")
    cases = [
        (("backup", str(file)), {}, b"isn't a folder"),
        (("backup", str(file / "below")), {}, b"isn't a folder"),
        (("backup", str(tmp_path / "copies")), {"preexec_fn": small_files}, b"can't be copied"),
        (("restore", str(tmp_path / "none")), {}, b"none: No such file"),
        (("restore", str(tmp_path)), {}, b"Is a directory"),
        (("archive_import", str(tmp_path)), {}, b""),
        (("plan", "earth", "--crowd", str(tmp_path / "none")), {}, b""),
    ]
    for arguments, options, why in cases:
        done = manage(environment, *arguments, **options)
        assert done.returncode != 0, arguments
        assert b"Traceback" not in done.stderr and why in done.stderr, (arguments, done.stderr)
    away = {**environment, "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none"}
    for arguments in (("backup", str(tmp_path / "copies")), ("restore", str(file))):
        done = manage(away, *arguments)
        assert done.returncode != 0 and b"Traceback" not in done.stderr, done.stderr
    piped = subprocess.run(
        f"{sys.executable} manage.py backup - | true",
        shell=True,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        timeout=120,
    )
    assert b"Traceback" not in piped.stderr, piped.stderr
    assert list(data.glob(".backup-*")) == []
    assert not list((tmp_path / "copies").glob("*"))


def test_two_backups_into_one_folder_do_not_run_together(tmp_path):
    with backups._alone(tmp_path, ".backup.lock"), pytest.raises(BackupError, match="another backup"):
        backups.backup_save(tmp_path, now="2026-11-22T10:15:00+00:00")
    call_command("backup", str(tmp_path))
