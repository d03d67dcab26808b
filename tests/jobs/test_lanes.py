"""Lanes side by side, as real processes: a long import delays no upkeep; two workers share the work."""

import sqlite3
import subprocess
import sys
import time

import pytest

from tests.conftest import ROOT
from tests.jobs.test_kill import SET_UP, manage, migrated

pytestmark = pytest.mark.on_sqlite
UPKEEP = """
from django.utils import timezone
from annotation.models import Campaign
from jobs.services import job_enqueue
campaign = Campaign.objects.get()
for number in range(5):
    job_enqueue(kind="annotation.numbers", payload={"campaign": str(campaign.pk)}, now=timezone.now(), key=f"n{number}")
"""


@pytest.fixture
def environment(tmp_path):
    made = migrated(tmp_path, "lanes.sqlite3")
    assert manage("shell", "-c", SET_UP.replace("range(200)", "range(1500)"), environment=made).returncode == 0
    return made


def rows(tmp_path, sql):
    with sqlite3.connect(tmp_path / "lanes.sqlite3", timeout=30) as connection:
        return connection.execute(sql).fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_upkeep_is_done_while_a_long_import_runs(environment, tmp_path, workers):
    running = [
        subprocess.Popen([sys.executable, str(ROOT / "manage.py"), "worker"], env=environment, cwd=ROOT)
        for _ in range(workers)
    ]
    try:
        until = time.monotonic() + 90
        while time.monotonic() < until and not rows(
            tmp_path, "SELECT 1 FROM jobs_job WHERE lane = 'bulk' AND done > 0"
        ):
            time.sleep(0.05)
        assert manage("shell", "-c", UPKEEP, environment=environment).returncode == 0
        unfinished = "SELECT COUNT(*) FROM jobs_job WHERE lane = 'upkeep' AND state != 'done'"
        while time.monotonic() < until and rows(tmp_path, unfinished)[0][0]:
            time.sleep(0.05)
        [(state, done)] = rows(tmp_path, "SELECT state, done FROM jobs_job WHERE lane = 'bulk'")
        assert rows(tmp_path, unfinished) == [(0,)]
        assert (state, done < 1500) == ("running", True), "the import was over before the upkeep: nothing was shown"
    finally:
        for process in running:
            process.terminate()
        assert [process.wait(timeout=60) for process in running] == [0] * workers
