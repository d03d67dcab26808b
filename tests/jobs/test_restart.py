"""A worker outlives a restart of PostgreSQL: its connections end, and it goes on with new ones."""

import os
import subprocess
import sys
import time

import pytest
from django.db import connection
from django.utils import timezone

from jobs.models import Job
from jobs.services import job_enqueue
from tests import factories
from tests.conftest import ROOT
from tests.waiting import wait_for

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]


def connections_end():
    """End all connections but our own, again and again: some of them in the middle of a statement."""
    ended = 0
    with connection.cursor() as cursor:
        for _ in range(400):
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid != pg_backend_pid()"
            )
            ended += cursor.rowcount
            time.sleep(0.005)
    return ended


def test_a_worker_goes_on_after_its_connections_were_ended():
    campaign = factories.campaign()
    database = connection.settings_dict
    url = f"postgres://{database['USER']}@{database['HOST']}:{database['PORT']}/{database['NAME']}"
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings.dev",
        "DATABASE_URL": url,
        "CELERY_BROKER_URL": "",
    }
    command = [sys.executable, str(ROOT / "manage.py"), "worker", "--poll", "0.01", "--tick", "0.1"]
    worker = subprocess.Popen(command, env=environment, cwd=ROOT, stderr=subprocess.DEVNULL)

    def works(key):
        """Wait until a job of each lane was done."""
        kinds = {"annotation.numbers": {"campaign": str(campaign.pk)}, "workforces.marketplace": {}}
        jobs = [
            job_enqueue(kind=kind, payload=payload, now=timezone.now(), key=f"{kind} {key}").pk
            for kind, payload in kinds.items()
        ]
        wait_for(lambda: Job.objects.filter(pk__in=jobs, state="done").count() == len(jobs))

    try:
        works("before")
        assert connections_end() > 5
        works("after")
        assert worker.poll() is None
    finally:
        worker.terminate()
        worker.wait(timeout=60)
