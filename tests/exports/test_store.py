"""Releases in a bucket, by the real protocol: a store that fails is tried again or said, and nothing is half there."""

import hashlib
import io
import zipfile

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.test import Client
from django.utils import timezone

from exports.models import ReleaseState
from exports.services import release_request
from jobs.models import Job, JobState
from jobs.services import job_run
from storage.buckets import BucketStorage
from storage.files import StoreAway, StoreRefuses
from tests import factories
from tests.exports.faulty_store import BREAK, BUCKET, DROP, PASS, FaultyStore

pytestmark = pytest.mark.django_db


@pytest.fixture
def store(monkeypatch, settings):
    """Return a store in which the platform keeps releases, asked at most twice for the same."""
    with FaultyStore() as running:
        for name, value in {
            "AWS_ENDPOINT_URL_S3": running.url,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "k",
            "AWS_SECRET_ACCESS_KEY": "s",
        }.items():
            monkeypatch.setenv(name, value)
        options = {"place": f"s3://{BUCKET}/quorate/", "attempts": 2}
        bucket = {"BACKEND": "storage.buckets.BucketStorage", "OPTIONS": options}
        settings.STORAGES = {**settings.STORAGES, "releases": bucket, "releases_now": bucket}
        yield running


def request(campaign, **more):
    what = {"family": "nq-original", "ways": 1, "splits": [], "seed": 0, "shards": 4, **more}
    return release_request(campaign=campaign, actor_id=None, now=timezone.now(), **what)


@pytest.fixture
def campaign():
    made = factories.campaign(n=1, items=4)
    person = factories.annotator(made)
    for _ in range(4):
        factories.annotate(made, person, box=0)
    return made


def run(release):
    """Run the job of a release, whenever it would be due."""
    Job.objects.filter(pk=release.job_id).update(due_at=timezone.now())
    job_run(job_id=release.job_id)
    release.refresh_from_db()
    release.job.refresh_from_db()
    return release


def check(release, store):
    """Compare every object with the sums of the release."""
    assert (release.state, release.job.state) == (ReleaseState.READY, JobState.DONE)
    prefix = f"quorate/{release.folder}/"
    objects = {name.removeprefix(prefix): content for name, content in store.objects().items()}
    sums = dict(reversed(line.split("  ")) for line in objects["SHA256SUMS"].decode().splitlines())
    assert set(objects) == {*sums, "SHA256SUMS"}
    assert {name: hashlib.sha256(objects[name]).hexdigest() for name in sums} == sums
    return objects


def test_a_release_in_a_bucket_is_written_shown_and_sent(store, campaign):
    objects = check(run(request(campaign)), store)
    person = factories.user()
    factories.join(campaign, person, "researcher")
    client = Client()
    client.force_login(person)
    page = client.get(f"/campaigns/{campaign.slug}/releases/1/").content.decode()
    assert "First rows of items" in page
    sent = client.get(f"/campaigns/{campaign.slug}/releases/1/files/nq-dev-00.jsonl.gz")
    assert b"".join(sent.streaming_content) == objects["nq-dev-00.jsonl.gz"]
    packed = b"".join(client.get(f"/campaigns/{campaign.slug}/releases/1/all/").streaming_content)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert {name.partition("/")[2]: archive.read(name) for name in archive.namelist()} == objects
    store.plan = lambda method, path: BREAK
    for address in ("files/nq-dev-00.jsonl.gz", "all/"):
        answer = client.get(f"/campaigns/{campaign.slug}/releases/1/{address}", follow=True)
        assert "isn&#x27;t responding" in answer.content.decode()


def test_dropped_connections_and_errors_are_tried_again_on_the_way(store, campaign):
    seen = set()

    def first_time_fails(method, path):
        if path in seen:
            return PASS
        seen.add(path)
        return DROP if len(seen) % 2 else BREAK

    store.plan = first_time_fails
    check(run(request(campaign)), store)
    assert store.faults == len(seen) > 10


@pytest.mark.parametrize("fault", [BREAK, DROP])
def test_a_store_that_goes_away_makes_the_job_wait_and_go_on_where_it_was(store, campaign, fault):
    store.plan = lambda method, path: fault if "nq-dev-02" in path else PASS
    release = run(request(campaign))
    assert (release.state, release.job.state) == (ReleaseState.WRITING, JobState.QUEUED)
    assert "nq-dev-02" in release.job.error
    there = store.objects()
    assert any("nq-dev-01" in name for name in there)
    assert not any("SHA256SUMS" in name or "nq-dev-02" in name for name in there)
    store.plan = lambda method, path: PASS
    store.passed.clear()
    check(run(release), store)
    again = [path for method, path in store.passed if method == "PUT"]
    assert not any("nq-dev-00" in path or "nq-dev-01" in path for path in again), "what was finished was sent again"


def test_a_store_that_refuses_ends_the_job_with_its_reason(store, campaign):
    store.client.delete_bucket(Bucket=BUCKET)
    release = run(request(campaign))
    assert (release.state, release.job.state) == (ReleaseState.FAILED, JobState.FAILED)
    assert f"s3://{BUCKET}/quorate/" in release.job.error
    assert "NoSuchBucket" in release.job.error


def test_a_large_object_goes_in_parts_and_leaves_none_behind(store):
    storage = storages["releases"]
    content = bytes(range(256)) * (1 << 16)  # 16 MB: two parts
    storage.save("large", ContentFile(content))
    assert store.objects()["quorate/large"] == content
    storage.save("large", ContentFile(content[::-1]))
    with storage.open("large") as file:
        assert file.read() == content[::-1]
    store.plan = lambda method, path: BREAK if "partNumber=2" in path else PASS
    with pytest.raises(StoreAway, match="large"):
        storage.save("large", ContentFile(content))
    assert store.objects()["quorate/large"] == content[::-1]
    assert store.unfinished() == []
    store.plan = lambda method, path: PASS
    storage.delete("large")
    assert not storage.exists("large")
    with pytest.raises(FileNotFoundError):
        storage.open("large")


def test_what_is_no_place_in_a_bucket_is_said(monkeypatch):
    for place in ("bucket/prefix", "s3://", "s3:///prefix", "https://bucket"):
        with pytest.raises(ImproperlyConfigured, match="s3://bucket"):
            BucketStorage(place)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    with pytest.raises(StoreRefuses, match="redentials"):
        BucketStorage("s3://bucket").save("name", ContentFile(b"text"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with pytest.raises(StoreAway) as away:  # researchers read this
        BucketStorage("s3://bucket", attempts=1).save("name", ContentFile(b"text"))
    assert str(away.value) == "s3://bucket/name: the store doesn't respond (EndpointConnectionError)"
