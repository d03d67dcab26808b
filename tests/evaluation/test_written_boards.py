"""Boards of written questions: scored as NLPCC does, generated questions counting for nothing."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from evaluation.boards.gold import gold_of, metrics_of
from evaluation.boards.metrics import METRICS
from evaluation.models import Board
from evaluation.services import BoardError, board_create
from exports.models import Release
from tests import writing
from tests.exports.blocks import read_blocks

pytestmark = pytest.mark.django_db


def test_a_sealed_kbqa_split_is_scored_by_the_numbers_of_its_file(tmp_path):
    campaign, to = writing.sealed(), tmp_path / "out"
    call_command(
        "release",
        campaign.slug,
        "--format",
        "kbqa",
        "--to",
        str(to),
        "--generated",
        str(writing.generated(tmp_path)),
        stdout=StringIO(),
        stderr=StringIO(),
    )
    release = Release.objects.get()
    options = {"release": release, "split": "test", "metric": "kbqa"}
    with pytest.raises(BoardError, match="fewer than 20 items"):  # ten questions by people, twenty generated
        board_create(**options, step=0.01, a_day=5, actor_id=None, now=timezone.now())
    gold = gold_of(Board(campaign=campaign, **options))
    blocks = {
        one.number: one.question for one in read_blocks((to / "kbqa-test.txt").open(encoding="utf-8", newline=""))
    }
    assert len(blocks) == 30 and len(gold["answers"]) == 10
    assert all("号书" in blocks[int(number)] for number in gold["answers"])
    given = tmp_path / "answers.txt"
    lines = [
        f"<answer id={number}>\t{'王' + writing.NAMES[int(text[1])] if '号书' in text and int(text[1]) < 6 else '不知道'}\n"
        for number, text in blocks.items()
    ]
    given.write_text("".join(lines), encoding="utf-8")
    scored = METRICS["kbqa"].score(given, gold, {})
    assert scored.score == pytest.approx(0.6) and len(scored.values) == 10
    assert METRICS["kbqa"].floor(gold).score == 0


def test_sentences_are_scored_by_hand(tmp_path):
    gold = {"pairs": [[False, True, False], [True, False]]}
    given = tmp_path / "scores"
    given.write_text("0.9\n0.5\n0.1\n1\n1\n")  # second of three; tied with what answers nothing, so second of two
    assert METRICS["dbqa-mrr"].score(given, gold, {}).values == [0.5, 0.5]
    assert METRICS["dbqa-map"].score(given, gold, {}).score == 0.5
    assert 0 < METRICS["dbqa-mrr"].floor(gold).score <= 1


def test_the_gold_of_a_dbqa_board_stands_in_the_order_of_its_file(tmp_path):
    campaign, to = (
        writing.campaign("dbqa", rows=writing.DOCUMENTS, options={"review": False, "recovery": False}),
        tmp_path / "out",
    )
    author = writing.factories.annotator(campaign)
    for number in range(2):
        writing.write(campaign, author, f"哪一句说的是{'甲乙'[number]}？", sentence=number)
    writing.factories.examine(campaign)
    call_command("release", campaign.slug, "--format", "dbqa", "--to", str(to), stdout=StringIO(), stderr=StringIO())
    release = Release.objects.get()
    assert metrics_of(release) == ["dbqa-mrr", "dbqa-map"]
    gold = gold_of(Board(campaign=campaign, release=release, split="train", metric="dbqa-mrr"))
    labels = [
        line.rsplit("\t", 1)[1] == "1" for line in (to / "dbqa-train.tsv").read_text(encoding="utf-8").splitlines()
    ]
    assert [label for labels in gold["pairs"] for label in labels] == labels
