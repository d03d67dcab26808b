"""Releases of sealed splits: their items, and nothing that was said of them."""

import gzip
import json

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.campaigns.services.campaigns import NewSplit
from exports.models import Release
from quality.labels.services.sealing import split_seal
from quality.models import Inspection
from tests import factories

pytestmark = pytest.mark.django_db


def rows(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture
def questions():
    """Return a campaign of answered questions whose test split is sealed."""
    made = factories.campaign(splits=[NewSplit("train", 1), NewSplit("test", 1, 2)])
    factories.import_questions(made, [f"question {number} about the harbour" for number in range(24)])
    factories.launch(made)
    person = factories.annotator(made)
    for _ in range(24):
        factories.annotate(made, person, box=0, kind="yes")
    factories.examine(made)
    Inspection.objects.filter(campaign=made).update(verdict="right")
    split_seal(split=made.splits.get(name="test"), actor_id=None, now=timezone.now())
    return made


@pytest.mark.parametrize("family", ["nq-original", "nq-simplified"])
def test_a_sealed_split_is_a_file_without_annotations(questions, tmp_path, family):
    call_command("release", questions.slug, "--format", family, "--ways", "1", "--to", str(tmp_path))
    [train], [test] = (list(tmp_path.glob(f"*nq-{split}*.jsonl.gz")) for split in ("train", "test"))
    assert all(len(row["annotations"]) == 1 for row in rows(train))
    sealed = rows(test)
    assert len(sealed) == questions.items.filter(split__name="test").count()
    assert all(row["annotations"] == [] for row in sealed)
    assert not list(tmp_path.glob("tables/annotations-test-*"))
    items = {row["item_id"]: row for row in rows(tmp_path / "tables/items.jsonl.gz")}
    assert {row["item_id"] for row in rows(tmp_path / "tables/judgments.jsonl.gz")} == {
        name for name, row in items.items() if row["split"] == "train"
    }
    assert all(items[str(row["example_id"])]["is_released"] for row in sealed)
    call_command("release_verify", str(tmp_path))
    call_command("validate_nq", str(train), str(test))
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["sealed"] == ["test"]
    assert manifest["annotations_via"] == {"internal": len(items) - len(sealed)}
    assert "Sealed: test." in (tmp_path / "README.md").read_text()
    assert Release.objects.get().members.filter(item__split__name="test").count() == len(sealed)  # to score against


def test_a_sealed_split_of_labels_has_no_label_in_any_table(tmp_path):
    made = factories.antique(items=0, splits=[NewSplit("train", 1), NewSplit("test", 1, 2)])
    factories.import_rows(made, factories.pairs(24))
    factories.launch(made)
    person = factories.annotator(made)
    for _ in range(24):
        factories.vote(made, person, 3)
    factories.examine(made)
    Inspection.objects.filter(campaign=made).update(verdict="right")
    split_seal(split=made.splits.get(name="test"), actor_id=None, now=timezone.now())
    call_command("release", made.slug, "--format", "labels", "--to", str(tmp_path))
    items = rows(tmp_path / "tables/items.jsonl.gz")
    told = {row["item_id"] for row in items if row["split"] == "train"}
    assert len(items) == 24
    for table in ("judgments", "labels"):
        assert {row["item_id"] for row in rows(tmp_path / f"tables/{table}.jsonl.gz")} == told
    assert sum(row["judgments"] for row in rows(tmp_path / "tables/annotators.jsonl.gz")) == len(told)
    assert not (tmp_path / "test-labels.jsonl.gz").exists()
    call_command("release_verify", str(tmp_path))
    call_command("release_revote", str(tmp_path), "--policy", "majority")
