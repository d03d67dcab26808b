"""Releases of labels alone: for texts that may not be handed on."""

import gzip
import json

import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from exports.released.folder import ReleasedFolder
from exports.released.verify import problems
from exports.services import release_request
from tests import factories
from tests.exports.conftest import rows

pytestmark = [pytest.mark.django_db, pytest.mark.on_sqlite]
TEXTS = [
    row[name].split("\n")[0].split("\t")[0]
    for row in rows()
    for name in ("question", "answer", "possibly_correct_answer")
]


def release(campaign, folder, *options, family="antique"):
    call_command("release", campaign.slug, *options, format=family, to=folder)
    return folder


def content(path):
    """Return all text of a file of a release."""
    if path.suffix == ".parquet":
        return json.dumps(pq.read_table(path).to_pylist(), ensure_ascii=False)
    return (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode()


@pytest.mark.parametrize("family", ["antique", "labels"])
def test_no_text_of_the_source_is_in_any_file(judged, tmp_path, family):
    folder = release(judged, tmp_path / "out", "--labels-only", family=family)
    assert list(problems(ReleasedFolder(folder))) == []
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 10
    for path in files:
        assert [text for text in TEXTS if text in content(path)] == [], path
    whole = release(judged, tmp_path / "whole", family=family)
    found = "".join(content(path) for path in whole.rglob("*") if path.is_file())
    assert all(text in found for text in TEXTS)


def test_labels_votes_and_ids_are_those_of_the_whole_release(judged, tmp_path, capsys):
    alone, whole = release(judged, tmp_path / "out", "--labels-only"), release(judged, tmp_path / "whole")
    for name in (
        "antique-train.qrel",
        "train-queries-blacklist.txt",
        "tables/labels.parquet",
        "tables/judgments.parquet",
    ):
        assert (alone / name).read_bytes() == (whole / name).read_bytes(), name
    assert not list(alone.glob("*queries.txt")) and not (alone / "antique-collection.txt").exists()
    columns = pq.read_schema(whole / "tables/items.parquet").names
    left_out = {"question_text", "answer_text", "possibly_correct_answer"}
    assert pq.read_schema(alone / "tables/items.parquet").names == [name for name in columns if name not in left_out]
    manifest = ReleasedFolder(alone).manifest
    assert (manifest["labels_only"], ReleasedFolder(whole).manifest["labels_only"]) == (True, False)
    assert "The texts that were labelled are left out" in (alone / "README.md").read_text()
    call_command("release_revote", str(alone), "--policy", "majority")
    assert "labels" in capsys.readouterr().out


def test_a_record_that_is_its_page_has_no_such_variant(tmp_path, client):
    campaign = factories.campaign(n=1)
    with pytest.raises(CommandError, match="nq-original doesn't have a labels-only variant"):
        call_command("release", campaign.slug, "--labels-only", format="nq-original", ways=1, to=tmp_path / "out")
    person = factories.user()
    factories.join(campaign, person, "researcher")
    client.force_login(person)
    assert "labels_only" not in client.get(f"/campaigns/{campaign.slug}/releases/").content.decode()


def test_with_and_without_texts_are_two_releases(judged, client):
    person = factories.user()
    factories.join(judged, person, "researcher")
    client.force_login(person)
    asked = {
        "campaign": judged,
        "family": "antique",
        "ways": None,
        "splits": [],
        "seed": 0,
        "shards": 1,
        "actor_id": person.surrogate_id,
        "now": timezone.now(),
    }
    numbers = [release_request(**asked, labels_only=alone).number for alone in (False, True, False, True)]
    assert numbers == [1, 2, 1, 2]
    sent = {"family": "antique", "shards": 1, "seed": 0, "labels_only": "on", "licence": "CC0-1.0"}
    assert client.post(f"/campaigns/{judged.slug}/releases/", sent).status_code == 302
    factories.run_jobs()
    page = client.get(f"/campaigns/{judged.slug}/releases/3/").content.decode()
    assert "omitted" in page
    assert "antique-collection.txt" not in page
