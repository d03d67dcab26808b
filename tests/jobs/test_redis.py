"""Celery over a real Redis: a message runs the job; a lost message is made good by the tick."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.conftest import ROOT
from tests.jobs.test_kill import PAGES, SET_UP, manage, report

pytestmark = [pytest.mark.slow, pytest.mark.redis, pytest.mark.on_sqlite]


@pytest.fixture
def environment(tmp_path, broker):
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings.dev",
        "QUORATE_DATA": str(tmp_path),
        "DATABASE_URL": f"sqlite:///{tmp_path}/redis.sqlite3",
        "CELERY_BROKER_URL": broker,
        "C_FORCE_ROOT": "1",
        "QUORATE_JOB_LEASE_SECONDS": "3",
    }


def celery(environment, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "celery", "-A", "config.celery", *arguments],
        env=environment,
        cwd=ROOT,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def reached(environment, *states, seconds=60):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = report(environment)
        if found[0] in states:
            return found
        time.sleep(0.5)
    return found


@pytest.mark.parametrize("lost", [False, True])
def test_a_job_gets_done_even_when_its_message_or_its_worker_is_lost(environment, lost):
    assert manage("migrate", "-v0", environment=environment).returncode == 0
    quiet = {**environment, "CELERY_BROKER_URL": ""} if lost else environment
    assert manage("shell", "-c", SET_UP, environment=quiet).returncode == 0
    worker = celery(environment, "worker", "-P", "prefork", "-c", "1", "--without-gossip", "--without-mingle")
    try:
        if lost:
            assert report(environment)[0] == "queued"
            send = "from config.celery import app; app.send_task('jobs.tick')"
            assert manage("shell", "-c", send, environment=environment).returncode == 0
        else:
            reached(environment, "running", "done")
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()
            time.sleep(3.1)
            worker = celery(environment, "worker", "-P", "prefork", "-c", "1", "--without-gossip", "--without-mingle")
            send = "from config.celery import app; app.send_task('jobs.tick')"
            assert manage("shell", "-c", send, environment=environment).returncode == 0
        state, _, imported, _, documents, error = reached(environment, "done", "failed")
    finally:
        os.killpg(worker.pid, signal.SIGTERM)
        worker.wait(timeout=120)
    assert (state, imported, documents, error) == ("done", PAGES, PAGES, "")
