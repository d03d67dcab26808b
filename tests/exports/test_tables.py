"""The typed tables of a release: every annotation with what became of it, and the readers that people load them with."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.slots.services.exclusions import annotation_exclude
from annotation.work.services.undo import submission_undo
from exports.build import build_release
from exports.models import Release
from exports.services import release_freeze
from exports.targets import FolderTarget
from tests import factories
from tests.exports.readers import read_by

pytestmark = [pytest.mark.django_db, pytest.mark.on_sqlite]
READ_ALL = """
import sys, datasets
folder, *names = sys.argv[1:]
datasets.disable_progress_bars()
for name in names:
    print(name, *sorted(datasets.load_dataset(folder, name, split="train").unique("item_id")), sep="|")
"""


LOAD_ALL = """
import sys, mlcroissant
dataset = mlcroissant.Dataset(jsonld="croissant.json")
for key in sys.argv[1:]:
    rows = list(dataset.records(key))
    assert all(f"{key}/item_id" in row for row in rows)
    print(key, len(rows))
"""


def lines(folder, key):
    with gzip.open(folder / f"tables/{key}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def release(campaign, folder, *options, family="antique"):
    call_command("release", campaign.slug, "--format", family, "--to", str(folder), *options)
    return folder


def test_votes_carry_their_round_place_and_state_and_say_which_a_label_rests_on(judged, tmp_path):
    excluded = judged.annotations.filter(item__content__answer_id="2146313_1").first()
    annotation_exclude(annotation=excluded, because="inspection", actor_id=None, now=timezone.now())
    factories.examine(judged)
    folder = release(judged, tmp_path)
    items = {row["item_id"]: row for row in lines(folder, "items")}
    assert len(items) == 5
    short = [row["answer_id"] for row in items.values() if not row["is_released"]]
    assert short == ["2146313_1"]  # its slot is open again
    votes = lines(folder, "judgments")
    assert len(votes) == judged.annotations.count()
    [gone] = [row for row in votes if row["state"] != "counted"]
    assert (gone["annotation_id"], gone["state"], gone["because"]) == (excluded.published_id, "excluded", "inspection")
    assert not gone["is_used"]
    expert = next(row["item_id"] for row in items.values() if row["answer_id"] == "0045_2")
    of_expert = [row for row in votes if row["item_id"] == expert]
    places = [(round_, rank) for round_ in (1, 2) for rank in (0, 1, 2)]
    assert [(row["round"], row["rank"]) for row in of_expert] == places
    assert sorted(row["label"] for row in of_expert) == [2, 2, 3, 3, 4, 4]
    assert {row["annotator"] for row in votes} == {row["annotator"] for row in lines(folder, "annotators")}


def test_labels_have_the_votes_and_how_sure_they_are(judged, tmp_path):
    folder = release(judged, tmp_path)
    answers = {row["item_id"]: row["answer_id"] for row in lines(folder, "items")}
    labels = {answers[row["item_id"]]: row for row in lines(folder, "labels")}
    sure, unsure = labels["2146313_1"], labels["2146313_0"]
    assert (sure["label"], sure["votes_1"], sure["entropy"]) == (1, 3, 0)
    assert (unsure["label"], unsure["rule"], unsure["votes_4"], unsure["votes_3"]) == (4, "majority", 2, 1)
    assert unsure["entropy"] == pytest.approx(0.918296)  # of two to one
    for row in labels.values():
        assert sum(row[f"posterior_{label}"] for label in (1, 2, 3, 4)) == pytest.approx(1, abs=1e-5)
    [opinion] = lines(folder, "opinions")
    assert (answers[opinion["item_id"]], opinion["label"]) == ("0045_2", labels["0045_2"]["label"])


def test_both_forms_of_a_table_hold_the_same_and_the_manifest_says_what_columns_mean(judged, tmp_path):
    folder = release(judged, tmp_path)
    manifest = json.loads((folder / "manifest.json").read_text())
    for key, table in manifest["tables"].items():
        found = pq.read_table(folder / f"tables/{key}.parquet")
        assert found.to_pylist() == lines(folder, key)
        assert found.schema.names == [column["name"] for column in table["columns"]]
        assert all(column["meaning"].endswith((".", "…")) for column in table["columns"]), key
        assert manifest["files"][f"tables/{key}.parquet"]["rows"] == len(found)


def test_what_its_author_took_back_is_not_in_it(tmp_path):
    campaign = factories.antique(items=2, n=1)
    person = factories.annotator(campaign)
    taken = factories.vote(campaign, person, 4)
    submission_undo(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now())
    factories.vote(campaign, person, 2)
    factories.examine(campaign)
    ids = {row["annotation_id"] for row in lines(release(campaign, tmp_path), "judgments")}
    assert taken.published_id not in ids
    assert len(ids) == 1


def test_tables_are_as_they_were_frozen_whatever_happens_next(judged, tmp_path):
    made = release_freeze(
        campaign=judged, family="antique", ways=None, splits=[], seed=3, shards=1, actor_id=None, now=timezone.now()
    )
    build_release(made, FolderTarget(tmp_path / "a"), lambda *_: None)
    annotation_exclude(annotation=judged.annotations.first(), because="manager", actor_id=None, now=timezone.now())
    factories.examine(judged)
    build_release(Release.objects.get(pk=made.pk), FolderTarget(tmp_path / "b"), lambda *_: None)
    names = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert "tables/judgments.parquet" in map(str, names)
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


def test_natural_questions_have_the_answers_by_column(tmp_path):
    campaign = factories.campaign(n=2, items=1)
    factories.annotate(campaign, factories.annotator(campaign), box=0, kind="yes")
    factories.annotate(campaign, factories.annotator(campaign), label="bad")
    folder = release(campaign, tmp_path, "--ways", "2", family="nq-original")
    first, second = sorted(lines(folder, "judgments"), key=lambda row: row["question_judgment"], reverse=True)
    assert (first["candidate_index"], first["short_answer_kind"], first["question_judgment"]) == (0, "yes", "good")
    assert (second["candidate_index"], second["question_judgment"]) == (None, "bad")
    assert set(json.loads(first["stage_seconds"])) == {"question", "long_answer", "short_answer"}
    [page] = lines(folder, "documents")
    assert [row["document_sha256"] for row in lines(folder, "items")] == [page["document_sha256"]]
    assert page["title"] == "Harbour"


@pytest.mark.peers
def test_the_hugging_face_library_loads_every_table_offline_with_ids_intact(judged, tmp_path):
    folder = release(judged, tmp_path / "release")
    names = ("items", "judgments", "labels", "opinions")
    env = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    said = read_by(READ_ALL, folder, *names, cwd=tmp_path, env=env)
    found = {line.split("|")[0]: line.split("|")[1:] for line in said.splitlines()}
    assert found == {name: sorted({row["item_id"] for row in lines(folder, name)}) for name in names}


@pytest.mark.peers
def test_croissant_is_valid_and_loads(judged, tmp_path):
    folder = release(judged, tmp_path, "--license", "CC-BY-4.0", "--author", "Tolliver, Agnes")
    validate = [str(Path(sys.executable).parent / "mlcroissant"), "validate", "--jsonld", "croissant.json"]
    ran = subprocess.run(validate, cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "warning" not in ran.stderr.lower().split("deprecat")[0], ran.stderr
    keys = ("items", "judgments", "labels")
    said = read_by(LOAD_ALL, *keys, cwd=folder)
    assert said.splitlines()[-len(keys) :] == [f"{key} {len(lines(folder, key))}" for key in keys]


def test_checksums_cover_every_file(judged, tmp_path):
    folder = release(judged, tmp_path)
    ran = subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=folder, check=False)
    assert ran.returncode == 0
    listed = {line.split("  ", 1)[1] for line in (folder / "SHA256SUMS").read_text().splitlines()}
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert there - listed == {"SHA256SUMS"}
