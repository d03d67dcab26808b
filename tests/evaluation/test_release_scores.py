"""Predictions are scored on the page of a release: the numbers of the command, or a sentence that says what is wrong."""

import json

import pytest
from django.core.files.storage import default_storage, storages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role
from annotation.models import Split
from evaluation.boards.gold import gold_of
from evaluation.models import Board
from evaluation.release_scores import JOB, splits_scored
from exports.models import Release
from exports.services import release_request
from jobs.models import Job
from tests import factories, writing

pytestmark = [pytest.mark.django_db, pytest.mark.on_sqlite]


@pytest.fixture
def researcher(client):
    """Log in a researcher; return a function that makes and writes a release that they can download."""
    person = factories.user()
    client.force_login(person)

    def released(campaign, family, ways=None):
        factories.join(campaign, person, Role.RESEARCHER)
        made = release_request(
            campaign=campaign, family=family, ways=ways, splits=[], seed=0, shards=1, actor_id=None, now=timezone.now()
        )
        factories.run_jobs()
        made.refresh_from_db()
        return made

    return released


@pytest.fixture
def pairs(researcher):
    """Return a release of four labeled pairs."""
    campaign = factories.antique(items=4, n=1)
    factories.launch(campaign)
    person = factories.annotator(campaign)
    for label in (4, 3, 2, 1):
        factories.vote(campaign, person, label)
    factories.examine(campaign)
    return researcher(campaign, "antique")


def address_of(release):
    return reverse("release-score", args=[release.campaign.slug, release.number])


def scored(client, release, content, split="train", name="mine.txt"):
    """Upload predictions and have them scored; return what the page says of them."""
    upload = SimpleUploadedFile(name, content.encode())
    answer = client.post(address_of(release), {"file": upload, "split": split})
    assert answer.status_code == 302, answer.content.decode()
    factories.run_jobs()
    job = Job.objects.filter(kind=JOB).latest("created_at")
    assert job.state == "done", job.error
    assert not default_storage.exists(job.payload["file"])  # it is deleted
    page = client.get(address_of(release))
    assert page.status_code == 200
    return page.context["scores"][0].result


def command(tmp_path, release, pattern, *arguments):
    """Return what the command says of files of a release."""
    import io

    for name in release.manifest["files"]:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_bytes(storages["releases"].open(f"{release.folder}/{name}").read())
    out = io.StringIO()
    call_command("evaluate", *[one.format(gold=tmp_path / pattern) for one in arguments], stdout=out)
    return out.getvalue().strip()


def test_a_run_has_the_numbers_of_the_command(client, pairs, tmp_path):
    lines = [f"90000{number} Q0 90000{number}_1 1 {number} mine" for number in range(4)]
    run = tmp_path / "mine.txt"
    run.write_text("\n".join(lines) + "\n")
    said = scored(client, pairs, run.read_text())["text"]
    expected = command(tmp_path, pairs, "antique-train.qrel", "relevance", "--qrels", "{gold}", "--run", str(run))
    assert said.strip() == expected.replace(str(run), "mine.txt")
    assert "MRR" in said


def test_a_leaderboard_scores_rankings_against_the_released_file(pairs):
    lines = storages["releases"].open(f"{pairs.folder}/antique-train.qrel").read().decode().splitlines()
    released = {}
    for question, _flag, answer, label in map(str.split, lines):
        released.setdefault(question, {})[answer] = int(label)
    assert len(lines) == 8  # the answers that the askers chose are among them
    board = Board(release=pairs, campaign=pairs.campaign, split="train", metric="mrr")
    assert gold_of(board)["qrels"] == released


def test_predictions_of_natural_questions_have_the_official_numbers(client, researcher, tmp_path):
    campaign = factories.campaign(n=1, items=3)
    person = factories.annotator(campaign)
    for _ in range(3):
        factories.annotate(campaign, person, box=0, kind="yes")
    release = researcher(campaign, "nq-original", ways=1)
    ids = [int(row) for row in campaign.items.values_list("published_id", flat=True)]
    none = {"start_byte": -1, "end_byte": -1, "start_token": -1, "end_token": -1}
    row = {
        "long_answer": none,
        "long_answer_score": 0,
        "short_answers": [],
        "short_answers_score": 1,
        "yes_no_answer": "YES",
    }
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"predictions": [{"example_id": one, **row} for one in ids]}))
    [split] = release.splits
    said = scored(client, release, file.read_text(), split=split, name="mine.json")["text"]
    thresholds = ("--long-threshold", "1", "--short-threshold", "1")
    assert said.strip() == command(
        tmp_path, release, f"nq-{split}-00.jsonl.gz", "nq", "--gold", "{gold}", "--predictions", str(file), *thresholds
    )
    assert "short answers at the best threshold" in said and "1.0000" in said


def test_questions_for_facts_are_scored(client, researcher):
    campaign = writing.campaign("kbqa", options={"review": False, "recovery": False})
    person = factories.annotator(campaign)
    writing.write(campaign, person, "高等数学是哪一年出版的？")
    release = researcher(campaign, "kbqa")
    said = scored(client, release, "<answer id=1>\t2004年\n", split=release.splits[0])
    assert "F1" in said["text"]


@pytest.mark.parametrize("content", ["not a run", "900000 Q0 900000_1 1 nan mine", "900000 Q0 900000_1 1 2"])
def test_what_is_wrong_with_a_file_is_said_with_its_name(client, pairs, content):
    said = scored(client, pairs, content)
    assert "text" not in said
    assert said["refused"].startswith("mine.txt") and "/" not in said["refused"]


def test_a_sealed_split_is_not_scored(client, pairs):
    Split.objects.filter(campaign=pairs.campaign).update(sealed_at=timezone.now())
    release = Release.objects.get(pk=pairs.pk)
    assert splits_scored(release) == []
    upload = SimpleUploadedFile("mine.txt", b"900000 Q0 900000_1 1 2 mine")
    answer = client.post(address_of(release), {"file": upload, "split": "train"})
    assert answer.status_code == 200 and answer.context["form"].errors
    assert not Job.objects.filter(kind=JOB).exists()


def test_a_split_that_was_sealed_while_its_file_waited_is_not_scored(client, pairs):
    upload = SimpleUploadedFile("mine.txt", b"900000 Q0 900000_1 1 2 mine")
    assert client.post(address_of(pairs), {"file": upload, "split": "train"}).status_code == 302
    Split.objects.filter(campaign=pairs.campaign).update(sealed_at=timezone.now())
    factories.run_jobs()
    assert "refused" in Job.objects.get(kind=JOB).result
