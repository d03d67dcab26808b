"""A sealed label cannot be obtained: whatever the labels are, every page, number, file, job and log line is the same."""

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.models import AuditEvent
from annotation.campaigns.services import numbers as annotation_numbers
from evaluation import system_scores
from exports.selectors.sealing import closed_by
from quality.dashboard import services as quality_numbers
from quality.experts.services.cases import case_ask
from quality.labels.services.sealing import SealError, split_seal, split_unseal
from quality.models import CaseReason
from tests import factories
from tests.guards.sealed_worlds import BELOW, Questions, Relevance, differing

pytestmark = pytest.mark.django_db
PAGES = {"item", "quality", "quality-person", "release", "release-all", "release-file", "files", "kept"}
OPERATIONS = {"annotation_list", "quality_read", "release_download"}


@pytest.fixture
def judged():
    return Relevance()


@pytest.mark.parametrize(
    ("world", "tells"),
    [
        pytest.param(
            Relevance,
            {
                "items",
                "quality-case",
                "quality-chart-csv",
                "quality-certificate-file",
                "label_list",
                "opinion_list",
            },
            marks=[pytest.mark.slow, pytest.mark.on_sqlite],
        ),
        pytest.param(
            Questions,
            {"quality-studies", "quality-studies-json", "study_read", "systems", "system_list"},
            marks=[pytest.mark.slow, pytest.mark.on_sqlite],
        ),
    ],
)
def test_whatever_the_sealed_labels_are_everything_else_is_the_same(caplog, monkeypatch, settings, world, tells):
    for module in (
        annotation_numbers,
        quality_numbers,
        system_scores,
    ):  # on a slow machine, pages would ask for numbers again
        monkeypatch.setattr(module, "STALE_SECONDS", 3600)
    made = world()
    settings.API_REQUESTS_PER_MINUTE = 1_000_000
    control = differing(made.everything(1, caplog), made.everything(2, caplog))
    assert control >= PAGES | OPERATIONS | tells  # of a split that is not sealed, all of these tell labels
    split_seal(split=made.test, actor_id=None, now=made.now)
    assert differing(made.everything(1, caplog), made.everything(2, caplog)) == set()


def test_a_release_from_before_is_closed_and_one_from_after_has_items_without_labels(judged, tmp_path):
    client = Client()
    client.force_login(judged.people["researcher"])
    one = f"/campaigns/{judged.campaign.slug}/releases/{judged.before.number}"
    assert client.get(f"{one}/all/").status_code == 200
    split_seal(split=judged.test, actor_id=None, now=judged.now)
    assert [
        client.get(f"{one}/{path}").status_code for path in ("all/", "files/antique-test.qrel", "files/manifest.json")
    ] == [403] * 3
    assert "sealed later" in client.get(f"{one}/").content.decode()
    assert b"antique-test.qrel" not in client.get(f"{one}/").content
    with pytest.raises(CommandError, match="sealed later"):
        call_command("release", judged.campaign.slug, "--again", str(judged.before.number), "--to", str(tmp_path / "a"))
    after = judged.release()
    assert after.sealed == ["test"]
    assert closed_by(after) == []
    assert {"antique-train.qrel", "antique-test-queries.txt"} <= set(after.manifest["files"])
    assert "antique-test.qrel" not in after.manifest["files"]
    assert client.get(f"/campaigns/{judged.campaign.slug}/releases/{after.number}/all/").status_code == 200
    assert after.manifest["splits"]["test"] == len(judged.items)
    split_unseal(split=judged.test, reason="The challenge is over.", actor_id=None, now=judged.now)
    assert client.get(f"{one}/all/").status_code == 200
    assert AuditEvent.objects.get(action="split_unseal").data["reason"] == "The challenge is over."


def test_only_administrators_unseal_and_they_say_why(judged):
    split_seal(split=judged.test, actor_id=None, now=judged.now)
    path = f"/campaigns/{judged.campaign.slug}/splits/test/unseal/"
    for role in BELOW:
        client = Client()
        client.force_login(judged.people[role])
        assert client.post(path, {"reason": "I want to"}).status_code == 404
    boss = Client()
    boss.force_login(factories.user(is_admin=True))
    assert "Give a reason for unsealing" in boss.post(path, {"reason": " "}, follow=True).content.decode()
    judged.test.refresh_from_db()
    assert judged.test.sealed_at is not None
    boss.post(path, {"reason": "The challenge is over."})
    judged.test.refresh_from_db()
    assert judged.test.sealed_at is None


def test_nothing_unfinished_or_tiny_is_sealed(judged):
    train = judged.campaign.splits.get(name="train")
    person = factories.user()
    case_ask(
        item=train.items.first(), because=CaseReason.MANAGER, experts=1, actor_id=person.surrogate_id, now=judged.now
    )
    with pytest.raises(SealError, match="experts are still judging"):
        split_seal(split=train, actor_id=None, now=judged.now)
    small = factories.antique(items=4, n=1).splits.get()
    with pytest.raises(SealError, match="fewer than 10"):
        split_seal(split=small, actor_id=None, now=judged.now)
    open_one = factories.antique(items=12, n=1).splits.get()
    with pytest.raises(SealError, match="still missing"):
        split_seal(split=open_one, actor_id=None, now=judged.now)
