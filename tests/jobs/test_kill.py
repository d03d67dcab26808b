"""Workers killed in the middle of a job, as real processes: nothing lost, nothing twice."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

import orjson
import pytest

from tests.conftest import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.on_sqlite]
PAGES = 200


def manage(*arguments, environment, **options):
    return subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *arguments],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        **options,
    )


SET_UP = (
    """
import uuid
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone
from annotation.campaigns.services.campaigns import *
from jobs.services import job_enqueue
import orjson
campaign = campaign_create(slug="kill", title="Kill", task_type="nq", splits=[NewSplit("dev", 1)],
    consent=NewConsent("a", "b", "c"), created_by=None, now=timezone.now())
lines = b"".join(orjson.dumps({"html": f"<p>page {i} has these words</p>", "name": f"p{i}"}) + b"\\n" for i in range(%d))
stored = default_storage.save("pages", ContentFile(lines))
job_enqueue(kind="annotation.import_documents", payload={"campaign": str(campaign.pk), "file": stored, "name": "p.jsonl"}, now=timezone.now(), scope_id=campaign.pk)
"""
    % PAGES
)

REPORT = """
import orjson
from annotation.models import CampaignDocument
from jobs.models import Job
job = Job.objects.get()
print("REPORT" + orjson.dumps([job.state, job.attempt, job.result.get("imported"), job.done, CampaignDocument.objects.count(), job.error]).decode())
"""


def migrated(folder, name, **more):
    """Make an installation with a SQLite file in a folder, and return the environment of its processes."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings.dev",
        "QUORATE_DATA": str(folder),
        "DATABASE_URL": f"sqlite:///{folder}/{name}",
        "CELERY_BROKER_URL": "",
        **more,
    }
    assert manage("migrate", "-v0", environment=environment).returncode == 0
    return environment


def report(environment):
    output = manage("shell", "-c", REPORT, environment=environment).stdout
    return orjson.loads(output.split("REPORT")[1])


def wait_for_progress(path, pages):
    """Wait until a worker has done so many pages more (or all of them)."""
    connection = sqlite3.connect(path)
    read = "SELECT done, state FROM jobs_job"
    start = connection.execute(read).fetchone()[0]
    until = time.monotonic() + 60
    while time.monotonic() < until:
        done, state = connection.execute(read).fetchone()
        if done >= start + pages or state not in ("queued", "running"):
            break
        time.sleep(0.005)
    connection.close()


@pytest.mark.parametrize("seed", [1, 2])
def test_a_worker_that_is_killed_again_and_again_loses_no_page_and_doubles_none(tmp_path, seed):
    environment = migrated(tmp_path, "kill.sqlite3", QUORATE_JOB_LEASE_SECONDS="1")
    result = manage("shell", "-c", SET_UP, environment=environment)
    assert result.returncode == 0, result.stderr
    chance = random.Random(seed)
    for _ in range(3):
        worker = subprocess.Popen(
            [sys.executable, str(ROOT / "manage.py"), "worker"], env=environment, cwd=ROOT, start_new_session=True
        )
        wait_for_progress(tmp_path / "kill.sqlite3", chance.randint(1, 40))
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
        time.sleep(1.1)  # the lease of the killed attempt runs out
    for _ in range(20):
        assert manage("worker", "--once", environment=environment).returncode == 0
        state, attempt, imported, done, documents, error = report(environment)
        if state != "running":
            break
        time.sleep(1)
    assert (state, imported, done, documents, error) == ("done", PAGES, PAGES, PAGES, "")
    assert attempt >= 3
