"""The page of a release: everything as one file, what changed since the one before, its first rows, who took it."""

import io
import zipfile

import pytest
from django.core.files.storage import storages
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from accounts.models import AuditEvent
from annotation.campaigns.services.campaigns import NewSplit
from annotation.campaigns.services.numbers import numbers_refresh
from annotation.models import Snapshot
from annotation.slots.services.exclusions import annotation_exclude
from exports.archive import zip_stream
from exports.models import Release
from exports.released.folder import ReleasedFolder
from exports.released.verify import problems
from exports.services import release_request
from jobs.models import Job
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.on_sqlite]


@pytest.fixture
def researcher(judged):
    person = factories.user()
    factories.join(judged, person, "researcher")
    client = Client()
    client.force_login(person)
    return client


def make(client, campaign, **more):
    sent = {"family": "antique", "shards": 1, "seed": 0, **more}
    assert client.post(f"/campaigns/{campaign.slug}/releases/", sent).status_code == 302
    factories.run_jobs()
    return Release.objects.order_by("number").last()


def test_all_files_come_as_one_that_is_a_whole_release(judged, researcher, tmp_path):
    release = make(researcher, judged, authors="Tolliver, Agnes\n\nThe Lund group", licence="CC-BY-4.0")
    answer = researcher.get(f"/campaigns/{judged.slug}/releases/1/all/")
    assert answer["Content-Type"] == "application/zip"
    packed = b"".join(answer.streaming_content)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert archive.testzip() is None
        archive.extractall(tmp_path)
    folder = tmp_path / f"{judged.slug}-release-1"
    assert list(problems(ReleasedFolder(folder))) == []
    call_command("release_verify", str(folder))
    citation = (folder / "CITATION.cff").read_text()
    for line in ('family-names: "Tolliver"', '- name: "The Lund group"', 'license: "CC-BY-4.0"'):
        assert line in citation
    again = b"".join(researcher.get(f"/campaigns/{judged.slug}/releases/1/all/").streaming_content)
    assert again == packed
    events = AuditEvent.objects.filter(action="release_download", scope_id=judged.pk)
    assert [event.data["name"] for event in events] == ["all", "all"]
    assert release.frozen["authors"] == ["Tolliver, Agnes", "The Lund group"]


@pytest.mark.parametrize(("family", "is_shuffled"), [("antique", False), ("labels", True)])
def test_the_page_names_an_order_only_where_the_seed_decides_it(judged, researcher, family, is_shuffled):
    make(researcher, judged, family=family)
    page = researcher.get(f"/campaigns/{judged.slug}/releases/1/").content.decode()
    assert ("Item order" in page) == is_shuffled


def test_a_file_that_is_taken_is_written_down_too(judged, researcher):
    make(researcher, judged)
    assert researcher.get(f"/campaigns/{judged.slug}/releases/1/files/tables/labels.parquet").status_code == 200
    assert AuditEvent.objects.get(action="release_download").data["name"] == "tables/labels.parquet"
    assert researcher.get(f"/campaigns/{judged.slug}/releases/1/files/CITATION.cff").status_code == 404  # no authors


def test_a_release_that_lost_a_file_is_not_sent_in_part(judged, researcher):
    release = make(researcher, judged)
    storages["releases"].delete(f"{release.folder}/antique-train.qrel")
    assert researcher.get(f"/campaigns/{judged.slug}/releases/1/all/").status_code == 404


def test_the_page_says_what_changed_since_the_release_before_and_shows_the_first_rows(judged, researcher):
    make(researcher, judged, seed=1)
    gone = judged.annotations.filter(item__content__answer_id="2146313_1").first()
    annotation_exclude(annotation=gone, because="inspection", actor_id=None, now=timezone.now())
    factories.examine(judged)
    release = make(researcher, judged, seed=2, licence="CC0-1.0")
    assert release.frozen["since"] == {"release": 1, "added": 0, "removed": 1, "changed": 0}
    page = researcher.get(f"/campaigns/{judged.slug}/releases/2/").content.decode()
    assert "Changes since release 1: 0 items added, 1 removed, and 0 with a different label" in page
    assert "First rows of labels" in page
    assert "naïve 😀" in page  # of the items
    listed = researcher.get(f"/campaigns/{judged.slug}/releases/").content.decode()
    assert "CC0-1.0" in listed and 'value="CC0-1.0"' in listed  # proposed for the next one
    assert "train 4" in listed
    card = b"".join(researcher.get(f"/campaigns/{judged.slug}/releases/2/files/README.md").streaming_content).decode()
    assert "Since release 1:" in card


def test_another_label_counts_as_changed_and_other_annotations_too(judged, researcher, now):
    make(researcher, judged, seed=1)
    split = judged.items.get(content__answer_id="2146313_0")  # 4, 4, 3
    four = split.annotations.filter(answer__label=4).first()
    annotation_exclude(annotation=four, because="inspection", actor_id=None, now=now)
    factories.examine(judged)
    factories.vote(judged, factories.annotator(judged), 3)
    factories.examine(judged)
    assert make(researcher, judged, seed=2).frozen["since"]["changed"] == 1

    campaign = factories.campaign(n=1, items=1)
    first = factories.annotate(campaign, factories.annotator(campaign), label="bad")
    admin = Client()
    admin.force_login(factories.user(is_admin=True))
    make(admin, campaign, family="nq-original", ways=1, seed=1)
    annotation_exclude(annotation=first, because="inspection", actor_id=None, now=now)
    factories.annotate(campaign, factories.annotator(campaign), label="bad")
    last = make(admin, campaign, family="nq-original", ways=1, seed=2)
    assert Release.objects.get(campaign=campaign, number=2).frozen["since"] == {
        "release": 1,
        "added": 0,
        "removed": 0,
        "changed": 1,
    }
    assert last is not None


def test_a_release_without_items_says_so(client):
    campaign = factories.antique(items=2, n=1)
    person = factories.user()
    factories.join(campaign, person, "researcher")
    client.force_login(person)
    release = make(client, campaign)
    page = client.get(f"/campaigns/{campaign.slug}/releases/{release.number}/").content.decode()
    assert "This release is empty because 2 items were incomplete" in page
    assert ">Empty<" in client.get(f"/campaigns/{campaign.slug}/releases/").content.decode()


def test_a_release_without_items_is_no_surprise_to_who_makes_it_by_command(tmp_path, capsys):
    campaign = factories.antique(items=2, n=1)
    call_command("release", campaign.slug, format="antique", to=tmp_path / "out")
    assert "This release is empty" in capsys.readouterr().err


def test_a_release_whose_job_failed_is_not_being_written(judged, researcher):
    release = make(researcher, judged)
    Release.objects.filter(pk=release.pk).update(state="writing", manifest={})
    Job.objects.filter(pk=release.job_id).update(state="failed")
    assert ">Failed<" in researcher.get(f"/campaigns/{judged.slug}/releases/").content.decode()


def test_who_cannot_stop_a_job_sees_no_button_for_it(judged, researcher):
    boss = factories.user(is_admin=True)
    made = release_request(
        campaign=judged,
        family="antique",
        ways=None,
        splits=[],
        seed=0,
        shards=1,
        actor_id=boss.surrogate_id,
        now=timezone.now(),
    )
    owner = Client()
    owner.force_login(boss)
    for state, button in (("running", ">Stop<"), ("failed", ">Try again<")):
        Job.objects.filter(pk=made.job_id).update(state=state)
        assert button in owner.get(f"/campaigns/{judged.slug}/releases/1/").content.decode()
        assert button not in researcher.get(f"/campaigns/{judged.slug}/releases/1/").content.decode()


def test_a_manager_sees_a_release_and_takes_nothing(judged):
    boss = factories.user()
    factories.join(judged, boss, "manager")
    admin, client = Client(), Client()
    admin.force_login(factories.user(is_admin=True))
    client.force_login(boss)
    make(admin, judged)
    page = client.get(f"/campaigns/{judged.slug}/releases/1/").content.decode()
    assert "Only researchers can download this release." in page
    assert "First rows" not in page
    assert client.get(f"/campaigns/{judged.slug}/releases/1/all/").status_code == 404


def test_a_large_file_goes_through_in_parts():
    opened = []

    def big():
        opened.append(True)
        return io.BytesIO(b"x" * 3_000_000)

    parts = zip_stream("f", [("a", big), ("b", big)])
    first = next(parts)
    assert len(opened) == 1
    assert max(map(len, [first, *parts])) < 400_000


def test_the_form_says_what_a_release_would_hold(client):
    campaign = factories.antique(items=2, n=2)
    manager = factories.user(is_admin=True)
    client.force_login(manager)
    address = f"/campaigns/{campaign.slug}/releases/"
    kept = Snapshot.objects.get(campaign=campaign)
    for split in kept.data["splits"]:  # as an earlier version kept them
        del split["complete"]
    kept.save()
    page = client.get(address).content.decode()
    assert "Items available for a release" not in page and "No item has all its annotations yet" not in page
    numbers_refresh(campaign=campaign, now=timezone.now())
    assert "No item has all its annotations yet" in client.get(address).content.decode()
    first, second = (factories.annotator(campaign) for _ in range(2))
    item = factories.vote(campaign, first, 3).item
    while factories.vote(campaign, second, 3).item != item:
        pass
    numbers_refresh(campaign=campaign, now=timezone.now())
    page = client.get(address)
    [split] = page.context["counted"]
    assert [split[name] for name in ("items", "complete", "incomplete", "drafts")] == [2, 1, 1, 0]
    assert "No item has all its annotations yet" not in page.content.decode()


def test_splits_that_collect_fewer_annotations_are_named_when_they_are_left_out(client):
    campaign = factories.campaign(items=6, splits=[NewSplit("train", 1), NewSplit("test", 2)])
    client.force_login(factories.user(is_admin=True))
    address = f"/campaigns/{campaign.slug}/releases/"
    sent = {"family": "nq-original", "shards": 1, "ways": 2}
    told = "Not in this release: train. These splits collect fewer annotations per item."
    assert told in client.post(address, sent, follow=True).content.decode()
    assert Release.objects.get().splits == ["test"]
    assert told not in client.post(address, {**sent, "splits": ["test"]}, follow=True).content.decode()
    assert "Not in this release" not in client.post(address, {**sent, "ways": 1}, follow=True).content.decode()


def test_a_chosen_split_that_collects_fewer_annotations_is_refused_before_anything_is_frozen(client):
    campaign = factories.campaign(items=6, splits=[NewSplit("train", 1), NewSplit("test", 2)])
    client.force_login(factories.user(is_admin=True))
    address = f"/campaigns/{campaign.slug}/releases/"
    sent = {"family": "nq-original", "shards": 1, "ways": 2, "splits": ["train", "test"]}
    page = client.post(address, sent).content.decode()
    assert "train: fewer annotations per item are collected." in page
    assert not Release.objects.exists()
    client.post(address, {**sent, "ways": 1})
    assert Release.objects.get().splits == ["train", "test"]


def test_items_that_are_not_launched_are_counted_apart(client):
    campaign = factories.campaign(items=1)
    factories.import_questions(campaign, ["where is the second harbour"])
    client.force_login(factories.user(is_admin=True))
    numbers_refresh(campaign=campaign, now=timezone.now())
    [split] = client.get(f"/campaigns/{campaign.slug}/releases/").context["counted"]
    assert [split[name] for name in ("items", "complete", "incomplete", "drafts")] == [2, 0, 1, 1]
