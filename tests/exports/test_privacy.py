"""Pseudonyms of people who did little, and what people could be recognized by."""

import gzip
import json
from collections import Counter

import pytest
from django.core.management import call_command

from tests import factories

pytestmark = pytest.mark.django_db


def rows(folder, table):
    with gzip.open(folder / f"tables/{table}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture
def campaign(settings):
    """Return a campaign in which one person made six judgments and another two."""
    settings.RELEASE_RARE_BELOW = 5
    made = factories.campaign(n=2, items=6)
    busy, rare = factories.annotator(made), factories.annotator(made)
    for _ in range(6):
        factories.annotate(made, busy)
    for _ in range(2):
        factories.annotate(made, rare)
    return made


def release(campaign, folder):
    call_command("release", campaign.slug, "--format", "nq-original", "--ways", "2", "--to", str(folder))
    return json.loads((folder / "manifest.json").read_text())


def test_each_judgment_of_who_made_few_has_a_pseudonym_of_its_own(campaign, tmp_path):
    manifest = release(campaign, tmp_path)
    names = Counter(row["annotator"] for row in rows(tmp_path, "judgments"))
    assert sorted(names.values()) == [1, 1, 6]
    assert sorted(name.partition("-")[0] for name in names) == ["annotator", "rare", "rare"]
    assert [row["annotator"] for row in rows(tmp_path, "annotators")] == [name for name, n in names.items() if n == 6]
    assert manifest["privacy"] == {
        "rare_below": 5,
        "rare_judgments": 2,
        "annotators": 1,
        "alone": {"days": 0, "ways": 0, "guideline_versions": 0},
    }
    assert "2 judgments are by people with fewer than 5 of them here" in (tmp_path / "README.md").read_text()
    call_command("release_verify", str(tmp_path))


def test_the_same_release_gives_the_same_pseudonyms_again(campaign, tmp_path):
    release(campaign, tmp_path / "first")
    call_command("release", campaign.slug, "--again", "1", "--to", str(tmp_path / "again"))
    assert (tmp_path / "first/SHA256SUMS").read_text() == (tmp_path / "again/SHA256SUMS").read_text()


def test_what_one_person_alone_has_is_counted(settings, tmp_path):
    settings.RELEASE_RARE_BELOW = 2
    campaign = factories.campaign(n=1, items=3)
    person = factories.annotator(campaign)
    for _ in range(3):
        factories.annotate(campaign, person)
    call_command("release", campaign.slug, "--format", "nq-original", "--ways", "1", "--to", str(tmp_path))
    privacy = json.loads((tmp_path / "manifest.json").read_text())["privacy"]
    assert privacy["alone"] == {"days": 1, "ways": 1, "guideline_versions": 1}
    assert privacy["rare_judgments"] == 0
    assert "rare-" not in (tmp_path / "README.md").read_text().partition("## What the columns mean")[0]
