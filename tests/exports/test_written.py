"""Releases of written questions in the files of NLPCC: reviewed ones, each text once, sealed splits without an answer."""

import gzip
import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.campaigns.services.campaigns import options_change
from annotation.models import Annotation
from evaluation.nlpcc.dbqa import read_pairs
from evaluation.nlpcc.kbqa import read_answers
from exports.formats.mixing import mixed
from exports.formats.nlpcc import Block
from tests import factories, writing
from tests.exports.blocks import read_blocks

pytestmark = [pytest.mark.django_db, pytest.mark.on_sqlite]


def table(to, key):
    """Return the rows of a table of a release."""
    with gzip.open(to / "tables" / f"{key}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def release(campaign, to, *options, family=None):
    call_command(
        "release",
        campaign.slug,
        "--format",
        family or campaign.task_type,
        "--to",
        str(to),
        *options,
        stdout=StringIO(),
        stderr=StringIO(),
    )
    call_command("release_verify", str(to), stdout=StringIO())
    return to


def through(campaign, text, people, *, sentence=None, decision="accept", found="", **sent):
    """Have a question written, reviewed, and answered blind."""
    author, reviewer, third = people
    writing.write(campaign, author, text, sentence)
    factories.examine(campaign)
    writing.review(campaign, reviewer, decision, **sent)
    factories.examine(campaign)
    if decision != "reject":
        writing.recover(campaign, third, found)
        factories.examine(campaign)


@pytest.fixture
def people():
    return lambda campaign: [factories.annotator(campaign) for _ in range(3)]


def test_a_kbqa_release_is_read_by_the_reader_of_the_published_files(tmp_path, people):
    campaign = writing.campaign(rows=writing.TRIPLES[:1])
    through(
        campaign,
        "高数是哪年出的？",
        people(campaign),
        decision="edit",
        question="高等数学是哪一年出版的？",
        found="2004年",
    )
    to = release(campaign, tmp_path / "out")
    assert (to / "kbqa-train.txt").read_bytes().decode() == (
        "<question id=1>\t高等数学是哪一年出版的？\r\n<triple id=1>\t高等数学 ||| 出版时间 ||| 2004年\r\n"
        f"<answer id=1>\t2004年\r\n{'=' * 50}\r\n"
    )
    found = read_answers(to / "kbqa-train.txt")
    assert (found.answers, found.damaged) == ({1: frozenset({"2004年"})}, [])
    [row] = table(to, "questions-train")
    assert (row["question_id"], row["decision"], row["recovered"], row["answer"]) == (1, "edit", True, "2004年")
    judged = table(to, "judgments")
    assert [(one["asks"], one["decision"]) for one in judged] == [
        ("write", None),
        ("review", "edit"),
        ("recover", None),
    ]
    assert judged[0]["question"] == "高数是哪年出的？"


def test_a_dbqa_release_is_read_by_the_reader_of_the_published_files(tmp_path, people):
    campaign = writing.campaign("dbqa", rows=writing.DOCUMENTS)
    trio = people(campaign)
    through(campaign, "哪个湖比别的湖都深？", trio, sentence=1, found=0)
    to = release(campaign, tmp_path / "out")
    lines = (to / "dbqa-train.tsv").read_text(encoding="utf-8").splitlines()
    written = table(to, "questions-train")[0]
    document = next(one for one in writing.DOCUMENTS if len(one["sentences"]) == len(lines))
    assert lines == [
        f"哪个湖比别的湖都深？\t{text}\t{int(place == 1)}" for place, text in enumerate(document["sentences"])
    ]
    assert read_pairs(to / "dbqa-train.tsv") == [[place == 1 for place in range(len(lines))]]
    assert written["recovered"] is False  # the third person chose another sentence
    assert json.loads((to / "manifest.json").read_text())["shortfall"] == 1  # the other document


def test_what_is_not_reviewed_or_was_rejected_is_not_in_it(tmp_path, people):
    campaign = writing.campaign(rows=writing.TRIPLES)
    author, reviewer, third = people(campaign)
    through(campaign, "这本书的信息是什么？", (author, reviewer, third), decision="reject", reason="unclear")
    writing.write(campaign, third, "这本书的哪一点最重要？")
    factories.examine(campaign)
    to = release(campaign, tmp_path / "out")
    assert (to / "kbqa-train.txt").read_bytes() == b""


def test_a_text_stands_in_a_release_once(tmp_path):
    campaign = writing.campaign(rows=writing.TRIPLES, options={"recovery": False})
    one, other = factories.annotator(campaign), factories.annotator(campaign)
    writing.write(campaign, one, "这本书怎么样？")
    writing.write(campaign, one, "这本书怎样呢？")
    factories.examine(campaign)
    writing.review(campaign, other)
    Annotation.objects.update(text_key=None)  # as if both had been submitted at the same moment
    writing.review(campaign, other, "edit", question="这本书怎么样?")  # the same but for its sign
    factories.examine(campaign)
    to = release(campaign, tmp_path / "out")
    assert len(list(read_blocks((to / "kbqa-train.txt").open(encoding="utf-8", newline="")))) == 1


@pytest.fixture
def sealed():
    return writing.sealed()


def test_a_sealed_split_tells_questions_alone(sealed, tmp_path):
    to = release(sealed, tmp_path / "out")
    blocks = list(read_blocks((to / "kbqa-test.txt").open(encoding="utf-8", newline="")))
    assert len(blocks) == 10 and all(
        isinstance(one, Block) and one.triple is None and one.answer is None for one in blocks
    )
    everything = b"".join(path.read_bytes() for path in to.rglob("*") if path.is_file())
    assert "王".encode() not in everything
    assert table(to, "items") == [] and table(to, "judgments") == []
    assert not list(to.glob("tables/questions-*"))


def test_generated_questions_cannot_be_told_from_written_ones(sealed, tmp_path):
    to = release(sealed, tmp_path / "out", "--generated", str(writing.generated(tmp_path)))
    blocks = list(read_blocks((to / "kbqa-test.txt").open(encoding="utf-8", newline="")))
    written = [one for one in blocks if "号书" in one.question]
    made = [one for one in blocks if "册" in one.question]
    # Written: 4 of 9 signs, 3 of 10, 3 of 11. Of 20 generated ones with 10 signs each round takes 7: there are two rounds.
    assert (len(written), len(made)) == (10, 20)
    assert [one.number for one in blocks] == list(range(1, len(blocks) + 1))  # ids: places, and nothing else
    places = [one.number for one in written]
    assert places != list(range(1, 11)) and places != list(range(len(blocks) - 9, len(blocks) + 1))
    mean = [sum(len(one.question) for one in ours) / len(ours) for ours in (written, made)]
    assert abs(mean[0] - mean[1]) <= 1
    others = b"".join(path.read_bytes() for path in to.rglob("*") if path.is_file() and path.name != "kbqa-test.txt")
    assert not any(one.question.encode() in others for one in blocks)


def test_nothing_that_is_released_tells_the_order(sealed, tmp_path):
    generated = str(writing.generated(tmp_path))
    one = release(sealed, tmp_path / "one", "--generated", generated)
    file = (one / "kbqa-test.txt").read_bytes()
    for name, more in (("two", ("--generated", generated, "--seed", "5")), ("three", ("--seed", "6"))):
        # A split is mixed once: what two files have in common would tell the written ones.
        assert (release(sealed, tmp_path / name, *more) / "kbqa-test.txt").read_bytes() == file
    call_command(
        "release", sealed.slug, "--again", "1", "--to", str(tmp_path / "again"), stdout=StringIO(), stderr=StringIO()
    )
    assert (tmp_path / "again" / "kbqa-test.txt").read_bytes() == file


def test_the_order_is_another_for_each_split_that_is_mixed(tmp_path):
    places = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        made = release(writing.sealed(), tmp_path / name / "out", "--generated", str(writing.generated(tmp_path)))
        blocks = read_blocks((made / "kbqa-test.txt").open(encoding="utf-8", newline=""))
        places.append([one.number for one in blocks if "号书" in one.question])
    assert places[0] != places[1]  # with the same seed of the release, which its manifest tells


def test_a_split_that_was_released_alone_is_not_mixed_later(sealed, tmp_path):
    release(sealed, tmp_path / "one")
    with pytest.raises(CommandError, match="already released without generated questions"):
        release(sealed, tmp_path / "two", "--generated", str(writing.generated(tmp_path)))


def test_what_was_written_before_reviews_were_asked_for_stays(tmp_path):
    campaign = writing.campaign(options={"review": False})
    one, other = factories.annotator(campaign), factories.annotator(campaign)
    writing.write(campaign, one, "高数是哪年出的？")
    factories.examine(campaign)
    options_change(campaign=campaign, chosen={"review": True}, actor_id=None, now=campaign.created_at)
    campaign.refresh_from_db()
    assert b"question id=1" in (release(campaign, tmp_path / "out") / "kbqa-train.txt").read_bytes()
    assert writing.asked(campaign, other).item.content["asks"] == "recover"


def test_generated_questions_that_would_be_told_apart_are_refused(sealed, tmp_path):
    with pytest.raises(CommandError, match="aren't enough generated questions"):
        release(sealed, tmp_path / "out", "--generated", str(writing.generated(tmp_path, lengths=(30, 31))))


def test_generated_questions_belong_into_sealed_splits(tmp_path, people):
    campaign = writing.campaign()
    with pytest.raises(CommandError, match="Choose at least one sealed split"):
        release(campaign, tmp_path / "out", "--generated", str(writing.generated(tmp_path)))


def test_every_order_and_choice_follows_from_the_seed():
    written, pool = ["甲是谁？", "乙在哪里？"], ["丙是谁？", "丁是谁？", "戊在哪里？", "己在何处？", "甲是谁"]
    order = mixed(written, pool, seed=3)
    assert order == mixed(written, pool[::-1], seed=3)
    assert order.count(None) == 2 and len(order) == 6 and "甲是谁" not in order


REAL = "kbqa-2016-test-first-2000.txt"


@pytest.mark.shared
def test_real_records_come_out_byte_for_byte(shared):
    data = (shared / "nlpcc" / REAL).read_bytes()
    blocks = list(read_blocks(data.decode().splitlines(keepends=True)))
    assert len(blocks) == 2000 and all(isinstance(one, Block) for one in blocks)
    assert "".join(f"{line}\r\n" for one in blocks for line in one.lines()).encode() == data
