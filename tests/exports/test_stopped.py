"""Releases whose writer is killed, or whose disk is full: real processes, and no release that is half there."""

import hashlib
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest

from tests.conftest import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.on_sqlite]
ITEMS, SHARDS = 48, 8
PAGE_WORDS = 12_000

SET_UP = f"""
import random
from django.utils import timezone
from tests import factories
draw = random.Random(5)
campaign = factories.campaign(n=1)
for page in range(6):
    words = " ".join("%x" % draw.getrandbits(40) for _ in range({PAGE_WORDS}))
    document = factories.import_page(campaign, f"<p>The harbour was built in 1870.</p><p>{{words}}</p>", f"page{{page}}.html")
rows = [{{"question": f"who built harbour {{n}}", "document": f"page{{n % 6}}.html", "id": str(n)}} for n in range({ITEMS})]
factories.import_rows(campaign, rows)
factories.launch(campaign)
person = factories.annotator(campaign)
for _ in range({ITEMS}):
    factories.annotate(campaign, person, box=0)
"""

REQUEST = """
from django.utils import timezone
from annotation.models import Campaign
from exports.services import release_request
release_request(campaign=Campaign.objects.get(), family="nq-original", ways=1, splits=[], seed=0, shards=%d, actor_id=None, now=timezone.now())
"""

REPORT = """
import orjson
from exports.models import Release
release = Release.objects.order_by("-number").first()
job = release.job
print("REPORT" + orjson.dumps([release.state, job.state, job.attempt, job.error, release.folder]).decode())
"""


def manage(*arguments, environment, **options):
    command = [sys.executable, str(ROOT / "manage.py"), *arguments]
    return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=300, **options)


def report(environment):
    return orjson.loads(manage("shell", "-c", REPORT, environment=environment).stdout.split("REPORT")[1])


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Return the environment of a platform with a campaign that waits for its release."""
    folder = tmp_path_factory.mktemp("stopped")
    (folder / "tmp").mkdir()
    made = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings.dev",
        "QUORATE_DATA": str(folder),
        "TMPDIR": str(folder / "tmp"),
        "DATABASE_URL": f"sqlite:///{folder}/app.sqlite3",
        "QUORATE_JOB_LEASE_SECONDS": "1",
        "CELERY_BROKER_URL": "",
    }
    assert manage("migrate", "-v0", environment=made).returncode == 0
    result = manage("shell", "-c", SET_UP, environment=made)
    assert result.returncode == 0, result.stderr
    return made


def finish(environment):
    """Let workers run until the release is written or refused; return its report."""
    for _ in range(20):
        assert manage("worker", "--once", environment=environment).returncode == 0
        found = report(environment)
        if found[1] not in ("running", "queued"):
            return found
        time.sleep(1)
    raise AssertionError(found)


def shas(folder):
    """Return the checksums of the data of a release, after comparing each with its file."""
    sums = dict(reversed(line.split("  ")) for line in (folder / "SHA256SUMS").read_text().splitlines())
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert there == {*sums, "SHA256SUMS"}, "a file too many or too few"
    assert {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in sums} == sums
    of_this_release = ("README.md", "manifest.json", "croissant.json", "FAIR-WORK.md")
    return {name: digest for name, digest in sums.items() if name not in of_this_release}


def wait_for_files(path, files):
    """Wait until the job of the last release has finished so many files more."""
    connection = sqlite3.connect(path)
    read = "SELECT result, state FROM jobs_job WHERE kind = 'exports.write' ORDER BY created_at DESC LIMIT 1"

    def finished():
        return len(orjson.loads(connection.execute(read).fetchone()[0]).get("files", {}))

    start, until = finished(), time.monotonic() + 60
    while time.monotonic() < until and finished() < start + files:
        time.sleep(0.002)
    connection.close()


def test_a_release_whose_writer_is_killed_again_and_again_is_the_same_bytes(environment):
    folder = Path(environment["QUORATE_DATA"])
    manage("shell", "-c", REQUEST % SHARDS, environment=environment)
    plain = finish(environment)
    assert plain[:2] == ["ready", "done"], plain
    manage("shell", "-c", REQUEST % SHARDS, environment=environment)
    for files in (1, 4, 6):
        command = [sys.executable, str(ROOT / "manage.py"), "worker"]
        worker = subprocess.Popen(command, env=environment, cwd=ROOT, start_new_session=True)
        wait_for_files(folder / "app.sqlite3", files)
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
        half = folder / "releases" / report(environment)[4]
        assert not (half / "SHA256SUMS").exists(), "killed too late to show anything"
        time.sleep(1.1)  # the lease of the killed attempt runs out
    state, job, attempt, error, place = finish(environment)
    assert (state, job, error) == ("ready", "done", "")
    assert attempt >= 4
    assert shas(folder / "releases" / place) == shas(folder / "releases" / plain[4])


def full_disk():
    """Let no file of this process grow beyond two megabytes: the error is that of a disk that is full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, 2 << 20))


def test_a_full_disk_is_said_and_the_release_goes_on_once_there_is_room(environment):
    folder = Path(environment["QUORATE_DATA"])
    manage("shell", "-c", REQUEST % 1, environment=environment)
    before = set((folder / "tmp").iterdir())  # what killed workers left is deleted after a day
    manage("worker", "--once", environment=environment, preexec_fn=full_disk)
    state, job, _attempt, error, place = report(environment)
    assert (state, job) == ("failed", "failed"), error
    assert "File too large" in error
    assert "try again once there is room" in error
    half = folder / "releases" / place
    assert not (half / "SHA256SUMS").exists()
    assert not list(half.rglob("*part*"))
    assert set((folder / "tmp").iterdir()) == before
    retry = "from jobs.models import Job; from jobs.services import job_retry; from django.utils import timezone; assert job_retry(job_id=Job.objects.get(state='failed').pk, now=timezone.now())"
    assert manage("shell", "-c", retry, environment=environment).returncode == 0
    assert finish(environment)[:2] == ["ready", "done"]
    shas(half)


def test_a_command_on_a_full_disk_says_that_its_folder_holds_no_release(environment, tmp_path):
    slug = (
        manage(
            "shell",
            "-c",
            "from annotation.models import Campaign; print('SLUG', Campaign.objects.get().slug)",
            environment=environment,
        )
        .stdout.split("SLUG ")[1]
        .split()[0]
    )
    out = tmp_path / "out"
    arguments = ["release", slug, "--format", "nq-original", "--ways", "1", "--to", str(out)]
    result = manage(*arguments, environment=environment, preexec_fn=full_disk)
    assert result.returncode == 1
    assert "File too large" in result.stderr
    assert "is incomplete" in result.stderr
    assert "Traceback" not in result.stderr
    assert not (out / "SHA256SUMS").exists()
