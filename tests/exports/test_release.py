"""Releases: what is in them, the same bytes again, and files that the official tools read."""

import gzip
import json
import re

import pytest
from django.core.files.storage import storages
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from annotation.campaigns.services.campaigns import NewSplit
from annotation.items.services.items import item_retire
from annotation.models import Item
from annotation.slots.services.exclusions import annotation_exclude
from annotation.slots.services.slots import items_extend, round_open
from exports.build import build_release
from exports.models import Release, ReleaseMember
from exports.services import (
    BuildError,
    ReleaseError,
    release_freeze,
    release_make,
    release_request,
    release_write,
)
from exports.targets import FolderTarget, StorageTarget
from jobs.services import job_run
from jobs.work import LeaseLost
from tests import factories

pytestmark = pytest.mark.django_db


def read(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.fixture
def labelled():
    """Return a campaign of three items with three different annotations each."""
    campaign = factories.campaign(n=3, items=3)
    people = [factories.annotator(campaign) for _ in range(3)]
    for person, chosen in zip(people, [{"box": 0, "kind": "yes"}, {"box": -1}, {"label": "bad"}], strict=True):
        for _ in range(3):
            factories.annotate(campaign, person, **chosen)
    return campaign


def test_a_release_holds_slots_in_their_order_and_validates(labelled, tmp_path, now):
    call_command("release", labelled.slug, "--format", "nq-original", "--ways", "2", "--to", str(tmp_path), "--json")
    records = read(tmp_path / "nq-dev-00.jsonl.gz")
    assert len(records) == 3
    call_command("validate_nq", str(tmp_path / "nq-dev-00.jsonl.gz"))
    members = ReleaseMember.objects.order_by("item_id", "rank")
    assert [member.rank for member in members] == [0, 1] * 3
    assert all(member.annotation.slot.index == member.rank for member in members)
    judgments = {row["annotation_id"]: row for row in read(tmp_path / "tables/judgments.jsonl.gz")}
    for record in records:
        for annotation in record["annotations"]:
            row = judgments[str(annotation["annotation_id"])]
            assert row["annotator"].startswith("annotator-")
            if row["question_judgment"] == "bad":
                assert annotation["long_answer"]["candidate_index"] == -1


def test_the_same_members_give_the_same_bytes_and_shards_share_them_out(labelled, tmp_path, now):
    for name in ("a", "b"):
        call_command(
            "release",
            labelled.slug,
            "--format",
            "nq-original",
            "--ways",
            "3",
            "--to",
            str(tmp_path / name),
            "--shards",
            "2",
            "--seed",
            "5",
        )
    for shard in (
        "nq-dev-00.jsonl.gz",
        "nq-dev-01.jsonl.gz",
        "tables/annotations-dev-00.parquet",
        "tables/annotations-dev-01.jsonl.gz",
        "tables/judgments.parquet",
    ):
        assert (tmp_path / "a" / shard).read_bytes() == (tmp_path / "b" / shard).read_bytes()
    sums = (tmp_path / "a/SHA256SUMS").read_text()
    assert "nq-dev-01.jsonl.gz" in sums
    assert sorted(len(read(tmp_path / "a" / f"nq-dev-0{shard}.jsonl.gz")) for shard in (0, 1)) == [1, 2]


def test_a_release_by_slots_holds_the_first_round_alone(tmp_path):
    campaign = factories.campaign(n=1, items=1)
    first = factories.annotate(campaign, factories.annotator(campaign))
    with transaction.atomic():
        round_open(item=first.item, round_=2)
    second = factories.annotate(campaign, factories.annotator(campaign))
    assert second.slot.round == 2
    call_command("release", campaign.slug, "--format", "nq-original", "--ways", "1", "--to", str(tmp_path))
    [record] = read(tmp_path / "nq-dev-00.jsonl.gz")
    assert [str(one["annotation_id"]) for one in record["annotations"]] == [first.published_id]


def test_the_shortfall_of_labels_counts_the_first_round_alone(tmp_path):
    campaign = factories.antique(items=1, n=3)
    for label in (4, 3, 2):
        factories.vote(campaign, factories.annotator(campaign), label)
    factories.examine(campaign)
    assert factories.vote(campaign, factories.annotator(campaign), 1).slot.round == 2
    call_command("release", campaign.slug, "--format", "labels", "--to", str(tmp_path))
    [short] = read(tmp_path / "sidecar/shortfall.jsonl.gz")
    assert (short["counted"], short["wanted"]) == (3, 3)


@pytest.mark.parametrize("shards", [1, 2])
def test_the_order_of_the_import_can_be_kept(tmp_path, shards):
    campaign = factories.campaign(items=5)
    for _ in range(5):
        factories.annotate(campaign, factories.annotator(campaign))
    call_command(
        "release",
        campaign.slug,
        "--format",
        "nq-original",
        "--ways",
        "1",
        "--to",
        str(tmp_path),
        "--as-imported",
        "--shards",
        str(shards),
    )
    records = [row for path in sorted(tmp_path.glob("nq-dev-*.jsonl.gz")) for row in read(path)]
    imported = campaign.items.order_by("pk").values_list("content__question_text", flat=True)
    assert [row["question_text"] for row in records] == list(imported)


def test_items_that_fall_short_are_listed_and_never_padded(labelled, tmp_path, now):
    annotation = labelled.annotations.filter(slot__index=1).first()
    annotation_exclude(annotation=annotation, because="excluded", actor_id=None, now=now)
    call_command("release", labelled.slug, "--format", "nq-original", "--ways", "3", "--to", str(tmp_path))
    assert len(read(tmp_path / "nq-dev-00.jsonl.gz")) == 2
    short = read(tmp_path / "sidecar/shortfall.jsonl.gz")
    assert [(row["external_id"], row["counted"], row["wanted"]) for row in short] == [
        (annotation.item.external_id, 2, 3)
    ]


class FullDisk(FolderTarget):
    """A folder on a disk that has no room left for tables, until someone makes some."""

    problem: type[BaseException] | None = OSError

    def put(self, name, path):
        if name.startswith("tables/") and self.problem is not None:
            raise self.problem("No space left on device")
        super().put(name, path)


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (OSError, "No space left on device"),
        (KeyboardInterrupt, "No space left on device"),
        (RuntimeError, "Something unexpected went wrong (RuntimeError)."),
    ],
)
def test_a_release_that_cannot_be_written_says_why_and_can_be_written_once_more(labelled, now, tmp_path, problem, said):
    target = FullDisk(tmp_path / "out")
    target.problem = problem
    asked = {"family": "nq-original", "ways": 3, "splits": [], "seed": 0, "shards": 1, "actor_id": None, "now": now}
    with pytest.raises(BuildError, match=re.escape(said)):
        release_make(campaign=labelled, target=target, progress=lambda *_: None, **asked)
    release = Release.objects.get()
    assert (release.state, release.problem) == ("failed", said)
    assert release.is_failed
    target.problem = None
    manifest = release_write(release=release, target=target, progress=lambda *_: None)
    release.refresh_from_db()
    assert (release.state, release.problem, release.manifest) == ("ready", "", manifest)


def test_a_worker_that_lost_its_job_says_nothing_of_the_release(labelled, now, tmp_path):
    asked = {"family": "nq-original", "ways": 3, "splits": [], "seed": 0, "shards": 1, "actor_id": None, "now": now}
    release = release_freeze(campaign=labelled, **asked)

    def lost():
        raise LeaseLost

    with pytest.raises(LeaseLost):
        release_write(
            release=release, target=FullDisk(tmp_path / "out"), progress=lambda *_: None, transaction_open=lost
        )
    release.refresh_from_db()
    assert (release.state, release.problem) == ("writing", "")


def test_a_frozen_release_does_not_change(labelled, now):
    release = release_freeze(
        campaign=labelled, family="nq-original", ways=3, splits=[], seed=0, shards=1, actor_id=None, now=now
    )
    before = list(ReleaseMember.objects.order_by("pk").values_list("annotation_id", flat=True))
    annotation_exclude(annotation=labelled.annotations.first(), because="excluded", actor_id=None, now=now)
    build_release(release, StorageTarget(release.folder), lambda *_: None)
    release_write(release=release, target=StorageTarget(release.folder), progress=lambda *_: None)
    release.refresh_from_db()
    assert release.state == "ready"
    assert release.manifest["splits"] == {"dev": 3}
    assert list(ReleaseMember.objects.order_by("pk").values_list("annotation_id", flat=True)) == before
    assert storages["releases"].exists(f"{release.folder}/nq-dev-00.jsonl.gz")


def test_five_ways_of_a_25_way_item_are_its_first_five(tmp_path, now):
    campaign = factories.campaign(n=5, items=1)
    for _ in range(5):
        factories.annotate(campaign, factories.annotator(campaign), label="bad")
    first = set(campaign.annotations.values_list("published_id", flat=True))
    items_extend(campaign=campaign, split=campaign.splits.get(), n=25, sample=1, seed=1, actor_id=None, now=now)
    for _ in range(20):
        factories.annotate(campaign, factories.annotator(campaign), box=-1)
    for ways in (1, 5, 25):
        call_command(
            "release", campaign.slug, "--format", "nq-original", "--ways", str(ways), "--to", str(tmp_path / str(ways))
        )
        (record,) = read(tmp_path / f"{ways}/nq-dev-00.jsonl.gz")
        assert len(record["annotations"]) == ways
        if ways == 5:
            assert {str(annotation["annotation_id"]) for annotation in record["annotations"]} == first


def test_pilot_and_retired_items_and_other_splits_are_left_out(now):
    campaign = factories.campaign(items=2, splits=[NewSplit("train", 1)])
    person = factories.annotator(campaign)
    factories.annotate(campaign, person, label="bad"), factories.annotate(campaign, person, label="bad")
    factories.import_questions(campaign, ["a pilot question"], pilot=True)
    factories.launch(campaign)
    factories.annotate(campaign, person, label="bad")
    item_retire(
        item=Item.objects.filter(batch__purpose="work").first(), reason="x", actor_id=person.surrogate_id, now=now
    )
    release = release_freeze(
        campaign=campaign, family="nq-original", ways=1, splits=[], seed=0, shards=1, actor_id=None, now=now
    )
    assert release.members.count() == 1
    for wrong in ({"ways": 5}, {"family": "nq-other"}, {"splits": ["nowhere"]}, {"shards": 0}):
        options = {
            "campaign": campaign,
            "family": "nq-original",
            "ways": 1,
            "splits": [],
            "seed": 0,
            "shards": 1,
            **wrong,
        }
        with pytest.raises(ReleaseError):
            release_freeze(**options, actor_id=None, now=now)
    with pytest.raises(CommandError, match="No split collects 5"):
        call_command("release", campaign.slug, "--format", "nq-original", "--ways", "5", "--to", "unused")


def test_freezing_takes_the_same_statements_for_any_number_of_items(now):
    counts = []
    for items in (2, 12):
        campaign = factories.campaign(items=items)
        person = factories.annotator(campaign)
        for _ in range(items):
            factories.annotate(campaign, person, label="bad")
        with CaptureQueriesContext(connection) as queries:
            release_freeze(
                campaign=campaign, family="nq-original", ways=1, splits=[], seed=0, shards=1, actor_id=None, now=now
            )
        counts.append(len(queries))
        assert Release.objects.get(campaign=campaign).members.count() == items
    assert counts[0] == counts[1]


@pytest.mark.shared
def test_published_examples_come_back_as_they_were(shared, tmp_path):
    source = shared / "nq-original/trade-winds.json"
    for _ in range(2):  # importing again changes nothing
        call_command("import_nq", str(source), "--campaign", "trade", "--with-annotations")
    call_command("release", "trade", "--format", "nq-original", "--ways", "5", "--to", str(tmp_path))
    assert read(tmp_path / "nq-dev-00.jsonl.gz") == [json.loads(source.read_text())]


@pytest.mark.shared
def test_a_published_file_without_its_annotations_can_be_labelled(shared, tmp_path):
    packed = tmp_path / "nq-dev-00.jsonl.gz"
    record = json.loads((shared / "nq-original/trade-winds.json").read_text())
    packed.write_bytes(gzip.compress(json.dumps({**record, "annotations": []}).encode()))
    call_command("import_nq", str(packed), "--campaign", "blank", "--n", "1")
    item = Item.objects.get()
    factories.launch(item.campaign)
    annotation = factories.annotate(item.campaign, factories.annotator(item.campaign), box=3)
    assert annotation.item == item


def test_a_published_example_with_a_fault_is_listed(tmp_path, capsys):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"example_id": 1}\n')
    call_command("import_nq", str(path), "--campaign", "bad")
    assert "bad.jsonl: line 1: document_html: is missing" in capsys.readouterr().err


def test_asking_twice_while_it_is_written_gives_one_release(labelled, now):
    what = {"campaign": labelled, "family": "nq-original", "ways": 3, "splits": [], "seed": 0, "shards": 1}
    actor_id = factories.user().surrogate_id
    first = release_request(actor_id=actor_id, now=now, **what)
    assert release_request(actor_id=actor_id, now=now, **what) == first
    assert job_run(job_id=first.job_id)
    first.refresh_from_db()
    assert first.state == "ready"
    assert release_request(actor_id=actor_id, now=now, **what).number == 2


@pytest.mark.shared
def test_a_published_question_that_is_there_already_is_listed_and_the_rest_go_on(shared, tmp_path, capsys):
    record = json.loads((shared / "nq-original/trade-winds.json").read_text())
    rows = [
        record,
        {**record, "example_id": 1, "annotations": []},
        {**record, "example_id": 2, "question_text": "another", "annotations": []},
    ]
    path = factories.write(tmp_path / "three.jsonl", rows)
    call_command("import_nq", str(path), "--campaign", "doubled", "--json")
    assert "line 2: the question and page of example 1 are already item 5225754983651766092" in capsys.readouterr().err
    assert Item.objects.count() == 2


def test_questions_that_nobody_annotated_yet_are_valid_where_that_is_said(labelled, tmp_path):
    call_command(
        "release", labelled.slug, "--format", "nq-original", "--ways", "2", "--to", str(tmp_path / "out"), "--json"
    )
    bare = [
        {name: value for name, value in row.items() if name != "annotations"}
        for row in read(tmp_path / "out/nq-dev-00.jsonl.gz")
    ]
    path = tmp_path / "test.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in bare))
    with pytest.raises(CommandError, match="3 errors in 3 records"):
        call_command("validate_nq", str(path))
    call_command("validate_nq", "--unlabeled", str(path))
    bare[0]["question_text"] = " "
    path.write_text("".join(json.dumps(row) + "\n" for row in bare))
    with pytest.raises(CommandError, match="1 errors in 3 records"):
        call_command("validate_nq", "--unlabeled", str(path))
