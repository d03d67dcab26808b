"""Publishing to hubs: one publication whatever is lost on the way, and what comes back is what was released."""

import json
import subprocess
import sys
import zipfile
from datetime import timedelta
from io import BytesIO

import pytest
import requests
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from huggingface_hub import HfApi

from accounts.models import AuditEvent
from exports.models import Publication, Release
from exports.publishing.base import PublishError
from exports.publishing.services import publication_request
from jobs.models import Event, Job
from tests import factories
from tests.exports.publishing.hugging_face import HubStandIn
from tests.exports.publishing.zenodo import ZenodoStandIn

pytestmark = [
    pytest.mark.django_db,
    # The hub's library sends files in a way that its HTTP library has a newer name for.
    pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning"),
]


@pytest.fixture
def hub(settings):
    with HubStandIn() as site:
        settings.HUGGING_FACE_URL, settings.HUGGING_FACE_TOKEN = site.url, site.TOKEN
        yield site


@pytest.fixture
def zenodo(settings):
    with ZenodoStandIn() as site:
        settings.ZENODO_URL, settings.ZENODO_TOKEN = site.url, site.TOKEN
        yield site


@pytest.fixture
def researcher(judged):
    person = factories.user()
    factories.join(judged, person, "researcher")
    client = Client()
    client.force_login(person)
    return client


def released(client, campaign, **more):
    sent = {
        "family": "antique",
        "shards": 1,
        "seed": 0,
        "licence": "CC-BY-4.0",
        "authors": "Tolliver, Agnes\nThe Lund group",
        **more,
    }
    assert client.post(f"/campaigns/{campaign.slug}/releases/", sent).status_code == 302
    factories.run_jobs()
    return Release.objects.order_by("number").last()


def ask(release, hub, **more):
    asked = {"address": "lund/judged", "is_public": True, **more}
    return publication_request(release=release, hub=hub, actor_id=None, now=timezone.now(), **asked)


def run(row, times=1):
    """Run its job until it is settled, as a worker does after each pause."""
    for _ in range(times):
        Job.objects.filter(state="queued").update(due_at=timezone.now())
        factories.run_jobs()
    row.refresh_from_db()
    return row


def test_a_release_loads_from_the_hub_with_its_ids(judged, researcher, hub, tmp_path):
    release = released(researcher, judged)
    sent = {"hub": "hugging_face", "address": "lund/judged", "is_public": "on", "evaluation_framework": "inspect-ai"}
    page = f"/campaigns/{judged.slug}/releases/1/"
    assert researcher.post(f"{page}publish/", sent).status_code == 302
    row = run(Publication.objects.get())
    assert (row.state, row.problem, row.version) == ("done", "", "v1.0.0")
    repo = hub.repos["lund/judged"]
    assert not repo["private"]
    files = hub.commit_of(repo, "v1.0.0")["files"]
    for name, one in release.manifest["files"].items():
        assert len(files[name]) == one["size"]
    assert b"evaluation_framework: inspect-ai\n" in files["eval.yaml"]
    assert files["LICENSE"].decode().startswith("Creative Commons Attribution 4.0 International")
    assert row.url in researcher.get(page).content.decode()
    assert AuditEvent.objects.filter(action="release_publish").count() == 1
    assert Event.objects.get(kind="release.published").data["url"] == row.url
    pytest.importorskip("datasets")
    code = (
        "import datasets, json\n"
        "items = datasets.load_dataset('lund/judged', 'items', split='train', revision='v1.0.0')\n"
        "print(json.dumps(sorted(items['external_id'])))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path), "HF_HUB_DISABLE_XET": "1", "PATH": "/usr/bin"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout) == sorted(judged.items.values_list("external_id", flat=True))


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "repos/create"),
        ("PUT", "blobs/"),
        ("POST", "/commit/"),
        ("POST", "/tag/"),
        ("PUT", "/settings"),
    ],
)
def test_a_lost_answer_of_the_hub_leaves_one_publication(judged, researcher, hub, monkeypatch, method, path):
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda _seconds: None)
    row = ask(released(researcher, judged), "hugging_face")
    hub.faults.lose(method, path)
    run(row, 3)
    assert row.state == "done", (row.problem, row.job.error)
    assert not hub.faults.lost
    repo = hub.repos["lund/judged"]
    assert not repo["private"]
    assert set(repo["tags"]) == {"v1.0.0"}
    assert "README.md" in hub.commit_of(repo, "v1.0.0")["files"]


def test_the_next_release_replaces_the_files_and_the_first_stays_under_its_tag(judged, researcher, hub):
    run(ask(released(researcher, judged, shards=2), "hugging_face"))
    run(ask(released(researcher, judged), "hugging_face"))
    repo = hub.repos["lund/judged"]
    first, second = (set(hub.commit_of(repo, tag)["files"]) for tag in ("v1.0.0", "v2.0.0"))
    assert {".gitattributes", "README.md"} <= first & second
    gone = (
        Release.objects.get(number=1).manifest["files"].keys() - Release.objects.get(number=2).manifest["files"].keys()
    )
    assert gone <= first
    assert not gone & second


def test_a_private_release_becomes_public_when_asked_again(judged, researcher, hub):
    release = released(researcher, judged)
    row = run(ask(release, "hugging_face", is_public=False))
    assert hub.repos["lund/judged"]["private"]
    assert not Event.objects.filter(kind="release.published").exists()
    run(ask(release, "hugging_face"))
    assert not hub.repos["lund/judged"]["private"]
    before = len(hub.requests)
    again = ask(release, "hugging_face", is_public=False)  # it can't be taken back, and nothing is sent
    run(again)
    assert again.is_public
    assert len(hub.requests) == before
    row.refresh_from_db()
    with pytest.raises(PublishError, match="already published as lund/judged"):
        run(ask(release, "hugging_face", address="lund/other"))


def test_what_exists_and_what_another_campaign_published_is_never_written_to(judged, researcher, hub):
    hub.repos["lund/theirs"] = {
        "private": False,
        "commits": [{"oid": "0" * 40, "files": {}, "summary": ""}],
        "tags": {},
    }
    release = released(researcher, judged)
    row = run(ask(release, "hugging_face", address="lund/theirs"))
    assert row.state == "failed"
    assert "exists already" in row.problem
    assert len(hub.repos["lund/theirs"]["commits"]) == 1
    page = researcher.get(f"/campaigns/{judged.slug}/releases/1/").content.decode()
    assert "exists already" in page
    run(ask(release, "hugging_face"))  # under another name, which is free: a refused name isn't kept
    assert Publication.objects.get().state == "done"
    other = factories.antique(items=0)
    Release.objects.create(
        campaign=other, number=1, family="antique", ways=1, splits=[], state="ready", created_at=timezone.now()
    )
    with pytest.raises(PublishError, match="another campaign"):
        ask(Release.objects.get(campaign=other), "hugging_face", address="Lund/Judged")


def test_a_wrong_token_is_said_and_a_hub_that_is_away_is_asked_again(judged, researcher, hub, settings):
    settings.HUGGING_FACE_TOKEN = "wrong"
    release = released(researcher, judged)
    row = run(ask(release, "hugging_face"))
    assert row.state == "failed"
    assert "Hugging Face Hub refused" in row.problem
    assert hub.repos == {}
    settings.HUGGING_FACE_TOKEN, settings.HUGGING_FACE_URL = hub.TOKEN, "http://127.0.0.1:1"
    row = run(ask(release, "hugging_face"))
    row.job.refresh_from_db()
    assert (row.state, row.job.state) == ("publishing", "queued")
    settings.HUGGING_FACE_URL = hub.url
    assert run(row).state == "done"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/depositions$"),
        ("PUT", "/api/files/"),
        ("PUT", r"/depositions/\d+$"),
        ("POST", "/actions/publish"),
        ("GET", r"/depositions/\d+$"),
    ],
)
def test_a_lost_answer_of_zenodo_leaves_one_deposit(judged, researcher, zenodo, method, path):
    release = released(researcher, judged)
    row = ask(release, "zenodo", address="")
    zenodo.faults.lose(method, path)
    zenodo.faults.put_off("PUT", "/api/files/")
    run(row, 4)
    assert row.state == "done", (row.problem, row.job.error)
    [deposit] = zenodo.deposits.values()
    assert deposit["submitted"]
    assert row.doi == f"10.5072/zenodo.{deposit['id']}"
    assert deposit["metadata"]["license"] == "cc-by-4.0"
    assert [one["name"] for one in deposit["metadata"]["creators"]] == ["Tolliver, Agnes", "The Lund group"]
    assert set(deposit["files"]) == {f"{judged.slug}-release-1.zip", "README.md", "LICENSE", "CITATION.cff"}


def test_what_zenodo_keeps_loads_with_its_ids_and_later_releases_are_its_versions(judged, researcher, zenodo, tmp_path):
    run(ask(released(researcher, judged), "zenodo", address=""))
    row = ask(released(researcher, judged), "zenodo", address="")
    zenodo.faults.lose("POST", "/actions/newversion")
    run(row, 3)
    assert row.state == "done", (row.problem, row.job.error)
    first, second = zenodo.deposits.values()
    assert second["concept"] == first["concept"]
    assert second["submitted"]
    assert set(first["files"]) == {f"{judged.slug}-release-1.zip", "README.md", "LICENSE", "CITATION.cff"}
    name = f"{judged.slug}-release-2"
    assert set(second["files"]) == {f"{name}.zip", "README.md", "LICENSE", "CITATION.cff"}
    with zipfile.ZipFile(BytesIO(second["files"][f"{name}.zip"])) as archive:
        archive.extractall(tmp_path)
    call_command("release_verify", str(tmp_path / name))
    datasets = pytest.importorskip("datasets")
    items = datasets.load_dataset(str(tmp_path / name), "items", split="train", cache_dir=str(tmp_path / "cache"))
    assert sorted(items["external_id"]) == sorted(judged.items.values_list("external_id", flat=True))


def test_a_draft_that_someone_prepared_on_zenodo_is_left_alone(judged, researcher, zenodo):
    run(ask(released(researcher, judged), "zenodo", address=""))
    [first] = zenodo.deposits.values()
    theirs = zenodo.draft(first["concept"], files={"notes.txt": b"ours"})
    first["latest_draft"] = theirs["id"]
    release = released(researcher, judged)
    for _ in range(2):  # a second click is no second opinion
        row = run(ask(release, "zenodo", address=""))
        assert "unpublished draft" in row.problem
        assert theirs["files"] == {"notes.txt": b"ours"}


def test_zenodo_needs_authors_and_a_license(judged, researcher, zenodo):
    with pytest.raises(PublishError, match="authors"):
        ask(released(researcher, judged, authors=""), "zenodo", address="")
    with pytest.raises(PublishError, match="license"):
        ask(released(researcher, judged, licence="As we like"), "zenodo", address="")
    assert zenodo.requests == []


def test_the_token_goes_to_no_other_server(judged, researcher, zenodo, monkeypatch):
    with ZenodoStandIn() as other:
        shown = zenodo.shown
        monkeypatch.setattr(
            zenodo,
            "shown",
            lambda row: json.loads(json.dumps(shown(row)).replace(f"{zenodo.url}/api/files", other.url)),
        )
        row = run(ask(released(researcher, judged), "zenodo", address=""))
        assert row.state == "failed"
        assert other.requests == []


def test_who_sees_a_repository_sees_all_releases_in_it(judged, researcher, hub):
    first = released(researcher, judged)
    one = run(ask(first, "hugging_face", is_public=False))
    two = run(ask(released(researcher, judged), "hugging_face"))
    one.refresh_from_db()
    assert (one.is_public, two.is_public) == (True, True)  # and the page says so
    with pytest.raises(PublishError, match="everyone would see"):
        ask(released(researcher, judged), "hugging_face", is_public=False)


def test_a_private_upload_to_a_repository_that_was_made_public_on_the_hub_is_refused(judged, researcher, hub):
    run(ask(released(researcher, judged), "hugging_face", is_public=False))
    hub.repos["lund/judged"]["private"] = False
    commits = len(hub.repos["lund/judged"]["commits"])
    row = run(ask(released(researcher, judged), "hugging_face", is_public=False))
    assert "everyone would see" in row.problem
    assert len(hub.repos["lund/judged"]["commits"]) == commits


def test_labels_that_were_sealed_after_a_private_upload_are_not_shown_with_a_later_release(judged, researcher, hub):
    run(ask(released(researcher, judged), "hugging_face", is_public=False))
    judged.splits.update(sealed_at=timezone.now())
    later = released(researcher, judged)
    with pytest.raises(PublishError, match="sealed later"):
        ask(later, "hugging_face")
    assert hub.repos["lund/judged"]["private"]


def test_an_older_release_does_not_replace_a_newer_one(judged, researcher, hub):
    first, second = released(researcher, judged), released(researcher, judged, shards=2)
    run(ask(second, "hugging_face"))
    with pytest.raises(PublishError, match="newer release"):
        ask(first, "hugging_face")


def test_a_repository_that_the_token_could_not_see_at_first_is_not_emptied(judged, researcher, hub):
    hub.repos["lund/hidden"] = {"private": True, "commits": [], "tags": {}}
    hub.add_commit(hub.repos["lund/hidden"], {"theirs.txt": b"years of work"}, "theirs")
    release = released(researcher, judged)
    hub.faults.put_off("POST", "repos/create", 403)
    for _ in range(2):
        row = run(ask(release, "hugging_face", address="lund/hidden"))
        assert row.state == "failed"
    assert "exists already" in row.problem
    assert list(hub.repos["lund/hidden"]["commits"][-1]["files"]) == ["theirs.txt"]


def test_nobody_changes_what_is_being_published(judged, researcher, hub):
    release = released(researcher, judged)
    row = ask(release, "hugging_face", is_public=False)
    for more in ({"is_public": True}, {"address": "lund/other"}):
        with pytest.raises(PublishError, match="Wait until"):
            ask(release, "hugging_face", **more)
    assert run(row).is_public is False
    assert set(hub.repos) == {"lund/judged"}


def seal(campaign):
    campaign.splits.update(sealed_at=timezone.now())


@pytest.mark.parametrize("name", ["hugging_face", "zenodo"])
def test_labels_that_are_sealed_during_the_upload_are_not_shown(judged, researcher, hub, zenodo, name, monkeypatch):
    row = ask(released(researcher, judged), name, address="lund/judged" if name == "hugging_face" else "")
    if name == "hugging_face":
        tag = HfApi.create_tag
        monkeypatch.setattr(HfApi, "create_tag", lambda *given, **named: (seal(judged), tag(*given, **named)))
    else:
        sent = requests.Session.request

        def request(session, method, url, **named):
            if method == "PUT" and "/files/" not in url:
                seal(judged)
            return sent(session, method, url, **named)

        monkeypatch.setattr(requests.Session, "request", request)
    run(row)
    assert row.state == "failed"
    if name == "hugging_face":
        assert hub.repos["lund/judged"]["private"]
    else:
        assert not next(iter(zenodo.deposits.values()))["submitted"]


def test_no_text_of_an_error_holds_the_token(judged, researcher, hub, zenodo, settings):
    settings.HUGGING_FACE_TOKEN = settings.ZENODO_TOKEN = "secret-token\n"
    release = released(researcher, judged)
    for name in ("hugging_face", "zenodo"):
        row = run(ask(release, name, address="lund/judged" if name == "hugging_face" else ""))
        row.job.refresh_from_db()
        assert "secret" not in row.problem + row.job.error


def test_a_hub_that_is_away_for_a_day_is_given_up(judged, researcher, zenodo, settings):
    row = ask(released(researcher, judged), "zenodo", address="")
    settings.ZENODO_URL = "http://127.0.0.1:1"
    run(row, 2)
    assert row.state == "publishing"
    Publication.objects.update(requested_at=timezone.now() - timedelta(days=2))
    assert "didn't respond for a day" in run(row).problem


def test_what_was_sealed_since_is_not_published(judged, researcher, hub):
    row = ask(released(researcher, judged), "hugging_face")
    judged.splits.update(sealed_at=timezone.now())
    run(row)
    assert row.state == "failed"
    assert hub.requests == []
    with pytest.raises(PublishError, match="finished release"):
        ask(row.release, "hugging_face")


@pytest.mark.parametrize("name", ["judged", "a/b/c", "../x", "a/..", "lund/judged?x", "lund/-x", "a/b--c", "a/b.git"])
def test_a_name_that_the_hub_would_not_take_is_refused_at_once(judged, researcher, hub, name):
    with pytest.raises(PublishError, match="owner/name"):
        ask(released(researcher, judged), "hugging_face", address=name)
    assert hub.requests == []


def test_without_a_token_the_page_says_whom_to_ask(judged, researcher):
    release = released(researcher, judged)
    assert "ask your administrator" in researcher.get(f"/campaigns/{judged.slug}/releases/1/").content.decode()
    with pytest.raises(PublishError, match="isn't configured"):
        ask(release, "zenodo")


def test_the_command_publishes_and_says_where(judged, researcher, hub, zenodo, capsys):
    released(researcher, judged)
    with pytest.raises(CommandError, match="owner/name"):
        call_command("release_publish", judged.slug, "1", "--to", "hugging_face")
    with pytest.raises(CommandError, match="no release 7"):
        call_command("release_publish", judged.slug, "7", "--to", "zenodo")
    call_command("release_publish", judged.slug, "1", "--to", "zenodo", "--no-wait", "--json")
    assert json.loads(capsys.readouterr().out)["state"] == "publishing"
    factories.run_jobs()
    assert Publication.objects.get().state == "done"
