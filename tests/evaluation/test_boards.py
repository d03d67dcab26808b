"""Leaderboards: who may submit, how often, and what a team learns from it."""

import gzip
import json
import random
import re
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from accounts.models import AuditEvent, Role
from evaluation.boards.child import score_apart
from evaluation.boards.gold import gold_of
from evaluation.models import Board, Submission, SubmissionState, Team
from evaluation.nq.gold import read_gold
from evaluation.nq.predictions import read_predictions
from evaluation.nq.report import nq_report
from evaluation.services import BoardError, board_create, submission_add, team_enter
from exports.build import build_release
from exports.services import release_request
from exports.targets import FolderTarget
from jobs.models import Job
from quality.labels.services.sealing import split_seal, split_unseal
from tests import factories
from tests.evaluation.challenge import Challenge, lines

pytestmark = pytest.mark.django_db
SHOWN, NOT_SHOWN, REFUSED = SubmissionState.SHOWN, SubmissionState.NOT_SHOWN, SubmissionState.REFUSED


def test_a_sealed_board_shows_what_is_better_by_enough_and_nothing_else():
    made = Challenge()
    person, all_of_them = made.member(), len(made.labels)
    first = made.submit(person, made.right(all_of_them - 2))
    assert (first.state, first.score) == (SHOWN, round((all_of_them - 2) / all_of_them, 2))
    again = made.submit(person, made.right(all_of_them - 2))
    better_by_one = made.submit(person, made.right(all_of_them - 1))
    worse = made.submit(person, made.right(3))
    assert [(one.state, one.score, one.values) for one in (again, better_by_one, worse)] == [
        (NOT_SHOWN, None, None)
    ] * 3
    assert [one.attempt for one in (first, again, better_by_one, worse)] == [1, 2, 3, 4]
    assert not default_storage.listdir("")[1]  # no file is kept


def test_adaptive_probing_within_the_limits_tells_no_label():
    made = Challenge()
    person, draw = made.member(), random.Random(4)
    guess = {item: str(draw.randint(1, 4)) for item in made.labels}
    for item in list(guess)[:8]:
        for label in range(1, 5):
            told = made.submit(person, {**guess, item: str(label)})
            assert (told.state, told.score, told.error) == (NOT_SHOWN, None, "")


def test_limits_count_teams_and_a_code_joins_one():
    made = Challenge(a_day=2)
    first, second = made.member(), made.member()
    made.submit(first, made.right(3))
    made.submit(second, made.right(4))
    for person in (first, second):
        with pytest.raises(BoardError, match="used its 2 submissions"):
            made.submit(person, made.right(5))
    stranger = factories.user()
    with pytest.raises(BoardError, match="Join a team first"):
        made.submit(stranger, made.right(5))
    with pytest.raises(BoardError, match="ask its members for the code"):
        team_enter(board=made.board, name="ours", code="guess", surrogate_id=stranger.surrogate_id, now=made.now)
    with pytest.raises(BoardError, match="already on a team"):
        team_enter(board=made.board, name="another", code="", surrogate_id=first.surrogate_id, now=made.now)
    assert Submission.objects.count() == 2
    assert not default_storage.listdir("")[1]


def test_attempts_count_over_all_boards_of_the_same_labels():
    made = Challenge()
    person = made.member()
    made.submit(person, made.right(3))
    made.board = made.make(metric="map")
    team_enter(board=made.board, name="ours", code="", surrogate_id=person.surrogate_id, now=made.now)
    run = "".join(
        f"{question} Q0 {answer} 1 1.0 run\n"
        for question, row in gold_of(made.board)["qrels"].items()
        for answer in row
    )
    assert made.submit(person, run.encode()).attempt == 2


def test_every_team_has_to_beat_the_best_that_was_shown_to_anybody():
    made = Challenge()
    teams = [made.member(f"team {number}") for number in range(6)]
    all_of_them = len(made.labels)
    told = [made.submit(person, made.right(all_of_them - 2 + number % 2)).score for number, person in enumerate(teams)]
    assert told == [round((all_of_them - 2) / all_of_them, 2), None, None, None, None, None]
    assert Submission.objects.exclude(values=None).count() == 1


def test_of_a_sealed_split_there_is_one_board_for_each_metric_whatever_the_release():
    made = Challenge()
    with pytest.raises(BoardError, match="one leaderboard per metric"):
        made.make()


def test_a_split_with_too_few_items_has_no_board():
    campaign = factories.antique(items=4, n=1)
    worker = factories.annotator(campaign)
    for _ in range(4):
        factories.vote(campaign, worker, 3)
    factories.examine(campaign)
    release = release_request(
        campaign=campaign, family="labels", ways=None, splits=[], seed=0, shards=1, actor_id=None, now=timezone.now()
    )
    with pytest.raises(BoardError, match="fewer than 20 items"):
        board_create(
            release=release, split="train", metric="accuracy", step=0.01, a_day=3, actor_id=None, now=timezone.now()
        )


def test_what_waited_while_the_split_was_sealed_is_not_scored_and_what_was_told_is_hidden(client):
    made = Challenge(sealed=False)
    person = made.member()
    assert made.submit(person, made.right(7)).score == pytest.approx(7 / len(made.labels))
    waiting = submission_add(
        board=made.board,
        file=SimpleUploadedFile("p", lines(made.right(9))),
        name="p",
        system="s",
        options={},
        surrogate_id=person.surrogate_id,
        now=timezone.now(),
    )
    split_seal(split=made.test, actor_id=None, now=made.now)
    factories.run_jobs()
    waiting.refresh_from_db()
    assert (waiting.state, waiting.score, waiting.exact) == (REFUSED, None, None)
    client.force_login(person)
    page = client.get(f"/campaigns/{made.campaign.slug}/leaderboards/{made.board.number}/").content.decode()
    assert "this leaderboard is closed" in page
    assert f"{7 / len(made.labels):.4f}" not in page


def test_a_constant_answer_is_never_better_than_the_floor():
    made = Challenge()
    person = made.member()
    for label in "1234":
        assert made.submit(person, dict.fromkeys(made.labels, label)).state == NOT_SHOWN


@pytest.mark.parametrize("step", [0.06, 0.07, 0.4, 0.001, 0.6])
def test_a_step_is_a_whole_part_of_one(step):
    made = Challenge()
    with pytest.raises(BoardError, match="divide 1 evenly"):
        made.make(metric="map", step=step)


def test_what_could_not_be_scored_uses_up_nothing():
    made = Challenge(a_day=1)
    person = made.member()
    assert made.submit(person, b"Q Q0 a\x00b 1 1 r").state == REFUSED
    assert made.submit(person, made.right(3)).state == NOT_SHOWN
    stopped = Submission.objects.latest("pk")
    Submission.objects.filter(pk=stopped.pk).update(state=SubmissionState.WAITING)
    Job.objects.filter(pk=stopped.job_id).update(state="failed")
    assert made.submit(person, made.right(4)).state == NOT_SHOWN


def test_labels_are_in_no_file_while_a_submission_is_scored(monkeypatch):
    """A worker that is killed leaves nothing: they go through a pipe, and what is read is the upload itself."""
    made, seen = Challenge(), []

    def looked(*arguments, **options):
        seen.append((type(options["gold"]), options["predictions"].parent, options["predictions"].read_bytes()))
        return score_apart(*arguments, **options)

    monkeypatch.setattr("evaluation.services.score_apart", looked)
    sent = lines(made.right(len(made.labels)))
    assert made.submit(made.member(), sent).state == SHOWN
    assert seen == [(bytes, Path(default_storage.location), sent)]


def test_once_the_split_is_unsealed_every_score_is_told(client):
    made = Challenge()
    person = made.member()
    made.submit(person, made.right(len(made.labels) - 2))
    made.submit(person, made.right(len(made.labels) - 3))
    client.force_login(person)
    page = f"/campaigns/{made.campaign.slug}/leaderboards/{made.board.number}/"
    exact = f"{(len(made.labels) - 3) / len(made.labels):.4f}"
    assert exact not in client.get(page).content.decode()
    split_unseal(split=made.test, reason="It is over.", actor_id=None, now=made.now)
    assert exact in client.get(page).content.decode()


BOMB = gzip.compress(b"[" * 50_000_000)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\x00\xff\xfe", "text in"),
        (b"[" * 60_000 + b"\n", "valid JSON|recursion|expected an object"),
        (b'{"item_id": "x", "label": NaN}\n', "valid JSON"),
        (b'{"item_id": 99999999999999999999999999, "label": 1}\n', "item_id"),
        (b'{"item_id": "../../etc/passwd", "label": 9}\n', "is none of 1, 2, 3, 4"),
        (b'{"item_id": "x", "label": 1}\n', "items of the split have no label"),
        (BOMB, "unpacks|longer|can't be read"),
        (b"{" + b'"a":' * 30_000 + b"1", "valid JSON|longer"),
    ],
)
def test_hostile_files_end_with_a_sentence(content, why):
    made = Challenge(sealed=False)
    told = made.submit(made.member(), content, name="../../p<script>.jsonl")
    assert told.state == REFUSED
    assert re.search(why, told.error), told.error
    assert "/tmp/" not in told.error
    assert told.attempt is None


def test_a_board_of_labels_that_are_told_shows_every_score_and_closes_once_they_are_sealed(client):
    made = Challenge(sealed=False)
    person, all_of_them = made.member(), len(made.labels)
    scores = [made.submit(person, made.right(count)).score for count in (3, 4, 2)]
    assert scores == pytest.approx([count / all_of_them for count in (3, 4, 2)])
    client.force_login(person)
    page = f"/campaigns/{made.campaign.slug}/leaderboards/{made.board.number}/"
    best = f"{4 / all_of_them:.4f}"
    assert best in client.get(page).content.decode()
    made.seal()
    assert best not in client.get(page).content.decode()
    with pytest.raises(BoardError, match="no longer accepts submissions"):
        made.submit(person, made.right(5))
    with pytest.raises(BoardError, match="sealed later"):
        board_create(
            release=made.board.release, split="test", metric="mrr", step=0.01, a_day=3, actor_id=None, now=made.now
        )


def test_long_answers_score_as_the_official_evaluation_does_at_a_threshold(tmp_path):
    campaign = factories.campaign(n=2, items=21)
    for chosen in ({"box": 0, "kind": "yes"}, {"box": 0, "kind": "yes"}):
        person = factories.annotator(campaign)
        for number in range(21):
            factories.annotate(campaign, person, **(chosen if number % 3 else {"box": -1}))
    release = release_request(
        campaign=campaign, family="nq-original", ways=2, splits=[], seed=0, shards=1, actor_id=None, now=timezone.now()
    )
    factories.run_jobs()
    build_release(release, FolderTarget(tmp_path / "out"), lambda *_: None)
    shards = list((tmp_path / "out").glob("nq-dev-*.jsonl.gz"))
    rows = [json.loads(line) for shard in shards for line in gzip.open(shard, "rt")]
    draw = random.Random(2)
    null = dict.fromkeys(("start_byte", "end_byte", "start_token", "end_token"), -1)
    predictions = {
        "predictions": [
            {
                "example_id": row["example_id"],
                "long_answer_score": draw.random(),
                "short_answers_score": draw.random(),
                "long_answer": {key: row["long_answer_candidates"][place][key] for key in null},
                "short_answers": [],
                "yes_no_answer": draw.choice(["yes", "no"]),
            }
            for row in rows
            for place in [draw.choice([0, 0, 1])]
        ]
    }
    path = tmp_path / "p.json"
    path.write_text(json.dumps(predictions))
    official = nq_report(read_gold(shards), read_predictions(path), long_beta=2, short_beta=2, resamples=0, seed=0)[0][
        "metrics"
    ]
    for kind in ("long", "short"):
        board = board_create(
            release=release, split="dev", metric=f"{kind}-f1", step=0.01, a_day=3, actor_id=None, now=timezone.now()
        )
        person = factories.user()
        team_enter(board=board, name="a", code="", surrogate_id=person.surrogate_id, now=timezone.now())
        made = submission_add(
            board=board,
            file=SimpleUploadedFile("p.json", path.read_bytes()),
            name="p.json",
            system="s",
            options={"threshold": official[f"{kind}-best-threshold"]},
            surrogate_id=person.surrogate_id,
            now=timezone.now(),
        )
        factories.run_jobs()
        made.refresh_from_db()
        assert made.score == pytest.approx(official[f"{kind}-best-threshold-f1"])
        assert made.score > 0


def test_the_pages_from_a_team_to_a_score(client):
    made = Challenge()
    person = factories.user()
    factories.join(made.campaign, person, Role.RESEARCHER)
    client.force_login(person)
    page = f"/campaigns/{made.campaign.slug}/leaderboards/{made.board.number}/"
    assert "Join or create a team" in client.get(page).content.decode()
    client.post(f"{page}team/", {"name": "The <b>best</b>", "code": ""})
    assert "Submit predictions" in client.get(page).content.decode()
    sent = {"system": "ours", "file": SimpleUploadedFile("p.jsonl", lines(made.right(len(made.labels))))}
    assert "being scored" in client.post(f"{page}submit/", sent, follow=True).content.decode()
    factories.run_jobs()
    shown = client.get(page).content.decode()
    assert "1.0000" in shown
    assert "The &lt;b&gt;best&lt;/b&gt;" in shown
    assert client.post(f"{page}submit/", {"system": "ours"}).status_code == 422
    assert set(AuditEvent.objects.values_list("action", flat=True)) >= {"board_create", "team_enter", "submission_add"}


def test_managers_make_boards_and_researchers_do_not(client):
    made = Challenge()
    manager, researcher = factories.user(), factories.user()
    factories.join(made.campaign, manager, Role.MANAGER)
    factories.join(made.campaign, researcher, Role.RESEARCHER)
    path, sent = (
        f"/campaigns/{made.campaign.slug}/leaderboards/",
        {"release": made.board.release_id, "split": "test", "metric": "mrr", "step": "0.01", "a_day": "3"},
    )
    client.force_login(researcher)
    assert client.post(path, sent).status_code == 403
    client.force_login(manager)
    assert client.post(path, {**sent, "step": "0.0001"}).status_code == 200
    assert Board.objects.count() == 1
    assert client.post(path, sent).status_code == 302
    assert Board.objects.latest("pk").is_sealed
    assert "This leaderboard already exists" in client.post(path, sent).content.decode()


def test_nothing_of_a_board_is_kept_after_a_person_without_a_role_asks(client):
    made = Challenge()
    client.force_login(factories.user())
    page = f"/campaigns/{made.campaign.slug}/leaderboards/{made.board.number}/"
    assert [client.get(page).status_code, client.post(f"{page}team/", {"name": "x"}).status_code] == [404, 404]
    assert Client().get(page).status_code == 302
    assert not Team.objects.exists()
