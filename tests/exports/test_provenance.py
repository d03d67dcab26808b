"""What is unknown is null, what was not kept is said, and no record leaves that breaks its format."""

import gzip
import json
import re
import tomllib

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Annotation, Item
from exports.models import Release
from tests import factories
from tests.conftest import ROOT
from web.version import VERSION, commit

pytestmark = pytest.mark.django_db


def lines(path):
    return [json.loads(line) for line in gzip.open(path)]


def published(path, **changes):
    """Return a record in the published format: what a release of ours holds, under another id."""
    campaign = factories.campaign(items=1)
    factories.annotate(campaign, factories.annotator(campaign))
    call_command("release", campaign.slug, "--format", "nq-original", "--ways", "1", "--to", str(path))
    return {**lines(path / "nq-dev-00.jsonl.gz")[0], "example_id": 5, **changes}


def test_what_a_published_file_does_not_say_is_null_and_the_manifest_says_where_parts_come_from(tmp_path):
    record = published(tmp_path / "ours")
    source = factories.write(tmp_path / "theirs.jsonl", [record])
    call_command("import_nq", str(source), "--campaign", "theirs", "--with-annotations")
    call_command("release", "theirs", "--format", "nq-original", "--ways", "1", "--to", str(tmp_path / "again"))
    [judgment] = lines(tmp_path / "again/tables/judgments.jsonl.gz")
    unknown = (
        "annotator",
        "question_first_judgment",
        "question_judgment",
        "question_reason",
        "submitted_on",
        "seconds",
        "active_seconds",
        "stage_seconds",
        "guideline_version",
    )
    assert {name: judgment[name] for name in unknown} == dict.fromkeys(unknown)
    assert judgment["via"] == "published"
    manifest = json.loads((tmp_path / "again/manifest.json").read_text())
    assert manifest["tokenizers"] == ["published/1"]
    assert manifest["annotations_via"] == {"published": 1}
    assert manifest["frozen_at"].startswith(str(Release.objects.last().created_at.year))
    assert lines(tmp_path / "again/nq-dev-00.jsonl.gz") == [record]
    own = json.loads((tmp_path / "ours/manifest.json").read_text())
    assert (own["tokenizers"], own["annotations_via"]) == (["quorate/3"], {"internal": 1})


def test_what_of_a_record_is_not_kept_is_said(tmp_path):
    record = published(tmp_path / "ours", document_title="T" * 600, document_url="http://x/" + "u" * 2500, extra=1)
    source = factories.write(tmp_path / "theirs.jsonl", [record])
    call_command("import_nq", str(source), "--campaign", "theirs")
    from jobs.models import Job

    notes = [
        row["note"] for row in Job.objects.filter(kind="annotation.import_nq").latest("created_at").result["notes"]
    ]
    assert notes == [
        "the title was cut at 500 characters",
        "the address was cut at 2000 characters",
        "not kept: extra",
    ]


def test_the_same_question_may_be_asked_of_another_page(tmp_path):
    record = published(tmp_path / "ours")
    html = record["document_html"].replace("Agnes", "Edith")
    tokens = [{**token, "token": token["token"].replace("Agnes", "Edith")} for token in record["document_tokens"]]
    other = {**record, "example_id": 6, "document_html": html, "document_tokens": tokens, "annotations": []}
    source = factories.write(tmp_path / "theirs.jsonl", [record, other, {**record, "example_id": 7, "annotations": []}])
    call_command("import_nq", str(source), "--campaign", "theirs")
    assert set(Item.objects.filter(campaign__slug="theirs").values_list("external_id", flat=True)) == {"5", "6"}


def test_a_record_that_breaks_the_format_stops_the_release_and_names_the_item(tmp_path):
    campaign = factories.campaign(items=2)
    person = factories.annotator(campaign)
    for _ in range(2):
        made = factories.annotate(campaign, person)
    answer = {**made.answer, "short_answer": {"kind": "spans", "spans": [[0, 1]]}}
    from django.utils import timezone

    Annotation.objects.filter(pk=made.pk).update(answer=answer, redacted_at=timezone.now())
    with pytest.raises(CommandError, match=f"Item {made.item.published_id} can't be exported in this format"):
        call_command("release", campaign.slug, "--format", "nq-original", "--ways", "1", "--to", str(tmp_path))
    assert not list(tmp_path.glob("nq-*"))
    assert not (tmp_path / "manifest.json").exists()


def test_new_annotation_ids_fit_63_bits():
    campaign = factories.campaign(items=1)
    made = factories.annotate(campaign, factories.annotator(campaign))
    assert 0 <= int(made.published_id) < 2**63


def test_pairs_without_a_possibly_correct_answer_and_with_any_ids_are_labelled_and_released(tmp_path):
    campaign = factories.antique(items=0, n=1)
    rows = [
        {"question_id": "clueweb q1", "question": "Why?"},
        {"question_id": "q1", "question": "Why is it?", "answer_id": "clueweb09-en0000-00-00000", "answer": "So."},
    ]
    with pytest.raises(CommandError, match="the id of the candidate answer is missing"):
        factories.import_rows(campaign, rows[:1])
    factories.import_rows(campaign, rows[1:])
    factories.launch(campaign)
    factories.vote(campaign, factories.annotator(campaign), 3)
    factories.examine(campaign)
    call_command("release", campaign.slug, "--format", "antique", "--to", str(tmp_path))
    assert (tmp_path / "antique-train.qrel").read_text() == "q1 Q0 clueweb09-en0000-00-00000 3\n"
    assert (tmp_path / "antique-collection.txt").read_text() == "clueweb09-en0000-00-00000\tSo.\n"


def test_the_shortfall_counts_the_votes_there_are(tmp_path):
    campaign = factories.antique(items=1, n=3)
    for _ in range(2):
        factories.vote(campaign, factories.annotator(campaign), 4)
    call_command("release", campaign.slug, "--format", "antique", "--to", str(tmp_path))
    [row] = lines(tmp_path / "sidecar/shortfall.jsonl.gz")
    assert (row["counted"], row["wanted"]) == (2, 3)


def test_the_versions_of_the_project_the_changelog_and_the_code_are_one():
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == VERSION
    assert re.findall(r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[0] == VERSION


def test_a_release_says_which_code_made_it(tmp_path, monkeypatch):
    commit.cache_clear()
    monkeypatch.setenv("QUORATE_COMMIT", "0.2.0-7-gabcdef0")
    campaign = factories.antique(items=1, n=1)
    factories.vote(campaign, factories.annotator(campaign), 4)
    factories.examine(campaign)
    call_command("release", campaign.slug, "--format", "antique", "--to", str(tmp_path))
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert (manifest["code"], manifest["commit"]) == (f"quorate {VERSION}", "0.2.0-7-gabcdef0")
    assert f"Quorate {VERSION}, commit 0.2.0-7-gabcdef0" in (tmp_path / "README.md").read_text()
    monkeypatch.delenv("QUORATE_COMMIT")
    monkeypatch.setenv("PATH", "")
    commit.cache_clear()
    assert commit() == "unknown"
    commit.cache_clear()
