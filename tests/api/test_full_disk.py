"""An import to a disk that is really full: a clear error, and nothing is left of it."""

import subprocess

import pytest

from annotation.models import Item
from jobs.models import Job
from tests import factories
from tests.api.client import Api

pytestmark = pytest.mark.django_db


@pytest.fixture
def small_disk(tmp_path):
    """Return a file system of one megabyte, where this process may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mounting, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount command")
    if done.returncode:
        pytest.skip(f"this process can't mount a file system: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_refuses_an_import_and_keeps_no_part_of_it(small_disk, settings):
    uploads = settings.STORAGES["default"]
    settings.STORAGES = {**settings.STORAGES, "default": {**uploads, "OPTIONS": {"location": small_disk}}}
    campaign = factories.antique(items=0)
    api = Api(factories.user(is_admin=True))
    where = f"/api/v1/campaigns/{campaign.slug}/items:import"
    rows = b'{"question": "a"}\n' * 200_000
    answer = api.send("POST", where, data=rows, content_type="application/x-ndjson", Idempotency_Key="k")
    assert (answer.status_code, answer.json()["type"]) == (507, "urn:quorate:problem:storage-full")
    assert [path for path in small_disk.rglob("*") if path.is_file()] == []
    assert not Job.objects.filter(scope_id=campaign.pk, state="queued").exists()
    assert Item.objects.count() == 0
    fits = api.send("POST", where, data=rows[:18], content_type="application/x-ndjson", Idempotency_Key="k")
    assert fits.status_code == 202  # a refused request isn't kept: the key may be used again
