"""A release whose command was killed: `release --again` finishes it, and so does a button."""

import pytest
from django.core.files.storage import storages
from django.core.management import call_command
from django.test import Client

from accounts.models import Role
from exports.models import Release
from exports.services import release_freeze
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def left(now):
    """Return what a killed command leaves: a frozen release that nothing writes any more."""
    campaign = factories.campaign(items=2)
    person = factories.annotator(campaign)
    for _ in range(2):
        factories.annotate(campaign, person)
    return release_freeze(
        campaign=campaign, family="nq-original", ways=1, splits=[], seed=0, shards=1, actor_id=None, now=now
    )


@pytest.fixture
def researcher(left):
    person, client = factories.user(), Client()
    factories.join(left.campaign, person, Role.RESEARCHER)
    client.force_login(person)
    return client


def test_the_command_finishes_it(left, tmp_path, researcher):
    call_command("release", left.campaign.slug, "--again", "1", "--to", str(tmp_path / "out"))
    left.refresh_from_db()
    assert (left.state, left.manifest["splits"]) == ("ready", {"dev": 2})
    page = researcher.get(f"/campaigns/{left.campaign.slug}/releases/1/").content.decode()
    assert "wrote the files of this release to another folder" in page


def test_a_button_writes_the_same_files_here(left, tmp_path, researcher):
    address = f"/campaigns/{left.campaign.slug}/releases/1/"
    page = researcher.get(address).content.decode()
    assert "If the command was stopped, you can create the files here" in page
    assert f'action="{address}write/"' in page
    for _ in range(2):
        assert researcher.post(f"{address}write/").status_code == 302
    factories.run_jobs()
    row = Release.objects.get()
    assert (row.state, row.job.state) == ("ready", "done")
    page = researcher.get(address).content.decode()
    assert "Download all as one file" in page and "write/" not in page
    call_command("release", left.campaign.slug, "--again", "1", "--to", str(tmp_path / "out"))
    with storages["releases"].open(f"{row.folder}/SHA256SUMS") as here:
        assert here.read() == (tmp_path / "out/SHA256SUMS").read_bytes()


def test_a_ready_release_stays_ready_though_its_copy_here_cannot_be_written(left, tmp_path, researcher, monkeypatch):
    call_command("release", left.campaign.slug, "--again", "1", "--to", str(tmp_path / "out"))
    researcher.post(f"/campaigns/{left.campaign.slug}/releases/1/write/")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("exports.targets.StorageTarget.put", full)
    factories.run_jobs()
    row = Release.objects.get()
    assert (row.state, row.problem, row.job.state) == ("ready", "", "failed")
    assert "No space left" in row.job.error


def test_nobody_writes_a_release_that_was_closed_by_a_seal(left, researcher, now):
    left.campaign.splits.update(sealed_at=now)
    assert researcher.post(f"/campaigns/{left.campaign.slug}/releases/1/write/").status_code == 403
