"""The data card of a release: what it says, and that it never changes."""

import json
import re

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import ConsentText
from annotation.campaigns.services.campaigns import guideline_publish
from annotation.models import Campaign
from exports.build import build_release
from exports.models import Release
from exports.targets import FolderTarget
from quality.models import Audit
from tests import factories
from tests.exports.readers import read_by

pytestmark = [pytest.mark.django_db, pytest.mark.on_sqlite]


@pytest.fixture
def labelled():
    campaign = factories.campaign(n=2, items=2, content_warning="Some pages speak of storms.")
    for kind in ({"box": 0}, {"label": "bad"}):
        person = factories.annotator(campaign)
        for _ in range(2):
            factories.annotate(campaign, person, **kind)
    guideline_publish(campaign=campaign, body="Be exact.", note="Shorter.", actor_id=None, now=timezone.now())
    return campaign


def write(campaign, folder, *options):
    call_command("release", campaign.slug, "--format", "nq-original", "--ways", "2", "--to", str(folder), *options)
    return (folder / "README.md").read_text()


def test_a_card_says_what_is_in_the_release_and_how_it_was_made(labelled, tmp_path):
    card = write(labelled, tmp_path, "--licence", "CC-BY-SA-4.0")
    for text in (
        f"# {labelled.title}",
        "dev: 2 items",
        "2 annotations an item",
        "Licence: CC-BY-SA-4.0.",
        "2 people had annotated",
        "Content warning: Some pages speak of storms.",
        "> Be exact.",
        "What changed: Shorter.",
        "Good vs. bad question (nominal): ",
        "The error of its labels was not measured.",
    ):
        assert text in card
    assert json.loads((tmp_path / "manifest.json").read_text())["licence"] == "CC-BY-SA-4.0"


def test_what_is_unknown_is_said_to_be(labelled, tmp_path):
    card = write(labelled, tmp_path)
    assert "Licence: not stated." in card
    assert json.loads((tmp_path / "manifest.json").read_text())["licence"] is None


def test_a_card_written_again_is_the_same_although_the_campaign_went_on(labelled, tmp_path):
    card = write(labelled, tmp_path / "first")
    guideline_publish(campaign=labelled, body="Anew.", actor_id=None, now=timezone.now())
    factories.annotator(labelled)
    build_release(Release.objects.get(), FolderTarget(tmp_path / "again"), lambda *_: None)
    assert (tmp_path / "again/README.md").read_text() == card


def test_a_release_from_before_there_were_cards_is_written_without_one(labelled, tmp_path):
    write(labelled, tmp_path / "first")
    release = Release.objects.get()
    Release.objects.update(
        frozen={key: value for key, value in release.frozen.items() if key not in ("card", "licence")}
    )
    build_release(Release.objects.get(), FolderTarget(tmp_path / "again"), lambda *_: None)
    assert not (tmp_path / "again/README.md").exists()


def test_a_table_of_baselines_stands_on_the_card_where_it_is_asked_for_and_stays_there(labelled, tmp_path):
    table = tmp_path / "table"
    table.mkdir()
    (table / "table.md").write_text("| System | F1 |\n| --- | ---: |\n| BERT | 0.5 |\n\n# F1 on 3 examples\n")
    card = write(labelled, tmp_path / "out", "--baselines", str(table))
    assert "\n## Baselines\n\n| System | F1 |\n| --- | ---: |\n| BERT | 0.5 |\n\nF1 on 3 examples\n" in card
    (table / "table.md").unlink()
    call_command("release", labelled.slug, "--again", "1", "--to", str(tmp_path / "again"))
    assert (tmp_path / "again/README.md").read_text() == card
    with pytest.raises(CommandError, match=r"table\.md"):
        write(labelled, tmp_path / "none", "--baselines", str(table))
    assert "Baselines" not in write(labelled, tmp_path / "other")


def test_the_card_can_be_downloaded(labelled):
    client = Client()
    client.force_login(factories.user(is_admin=True))
    sent = {"family": "nq-original", "ways": 2, "shards": 1, "licence": "CC0-1.0"}
    client.post(f"/campaigns/{labelled.slug}/releases/", sent)
    factories.run_jobs()
    answer = client.get(reverse("release-file", args=[labelled.slug, 1, "README.md"]))
    assert answer.status_code == 200
    assert "Licence: CC0-1.0." in b"".join(answer.streaming_content).decode()


@pytest.mark.parametrize("sign", ["\n", "\u2028", "\u202e", "\u200b"])
def test_a_licence_or_an_author_cannot_pass_for_another_line_of_the_card(labelled, tmp_path, sign):
    for option in ("--license", "--author"):
        with pytest.raises(CommandError, match="on one line"):
            write(labelled, tmp_path, option, f"CC0-1.0{sign}## The labels are right")
    assert not Release.objects.exists()


def test_a_title_that_changes_after_the_freeze_is_not_in_the_release(labelled, tmp_path):
    write(labelled, tmp_path / "first")
    title = labelled.title
    Campaign.objects.update(title="Another")
    build_release(Release.objects.get(), FolderTarget(tmp_path / "again"), lambda *_: None)
    assert json.loads((tmp_path / "again/manifest.json").read_text())["title"] == title


def test_the_card_says_by_which_way_the_annotations_of_labels_came(judged, tmp_path):
    call_command("release", judged.slug, "--format", "antique", "--to", str(tmp_path))
    votes = sum(verdict.annotations.count() for verdict in judged.verdicts.filter(superseded_at=None))
    assert f"internal: {votes}." in (tmp_path / "README.md").read_text()


def test_what_the_card_says_to_load_it_runs(labelled, tmp_path):
    card = write(labelled, tmp_path)
    [snippet] = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    assert "[4 rows x" in read_by(snippet, cwd=tmp_path)


HOSTILE = "told\n\n# Fake heading\n\nLicence: MIT\n<script>alert(1)</script> [x](javascript:alert(1)) `code` |a|"


def test_what_people_wrote_stands_as_text_in_the_card(tmp_path):
    campaign = factories.campaign(n=1, items=1)
    factories.annotate(campaign, factories.annotator(campaign))
    ConsentText.objects.filter(scope=campaign.pk).update(purpose=HOSTILE, recorded=HOSTILE, approval_id=HOSTILE[-40:])
    guideline_publish(campaign=campaign, body="Be exact.", note=HOSTILE, actor_id=None, now=timezone.now())
    call_command(
        "release",
        campaign.slug,
        "--format",
        "nq-original",
        "--ways",
        "1",
        "--to",
        str(tmp_path),
        "--license",
        "<b>[x](y)",
        "--author",
        "<i>[x](y), A",
    )
    lines = (tmp_path / "README.md").read_text().splitlines()
    body = lines[lines.index("---", 1) + 1 :]
    assert "Licence: MIT" not in body
    assert "# Fake heading" not in body
    assert not [line for line in body if re.search(r"<script|<b>|<i>|(?<!\\)\[x", line)]


def test_audits_that_were_called_off_are_in_a_release_though_none_was_finished(judged, tmp_path):
    now = timezone.now()
    Audit.objects.create(campaign=judged, seed=1, strata=[], drawn_at=now, called_off_at=now)
    call_command("release", judged.slug, "--format", "labels", "--to", str(tmp_path))
    assert json.loads((tmp_path / "manifest.json").read_text())["audits"] == {"drawn": 1, "called_off": 1}
    assert "was not measured: 1 audit was drawn and 1 called off." in (tmp_path / "README.md").read_text()
