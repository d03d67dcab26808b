"""Facts of a knowledge base: drawn by seed, with what else is known of their subjects, damaged lines told."""

import sys

import pytest
from django.core.management import CommandError

from annotation.tasktypes.kbqa.task import KnowledgeBase
from sources.rules.triples import Triple, triple_of
from storage.text_files import LineFault
from tests import factories, writing
from tests.sources.files import lines, rows, step

KB = [
    "高等数学 ||| 出版社 ||| 高等教育出版社",
    "高等数学 ||| 出版时间 ||| 2004年",
    "高等数学 ||| 别名 ||| 高数",
    "隆德 ||| 河 ||| 赫耶河",
    "隆德 ||| 河 ||| 塞格河",
    "隆德 ||| 国家 ||| 瑞典",
    "damaged",
    "a |||  ||| c",
    "",
]


@pytest.fixture
def base(tmp_path):
    return lines(tmp_path / "kb.txt", KB)


def test_facts_come_with_their_aliases_and_all_objects_of_a_predicate(base, tmp_path):
    report = step("triples", base, "--sample", 10, "--alias", "别名", "--to", tmp_path / "to")
    assert (report["read"], report["damaged"], report["kept"], report["subjects"]) == (8, 2, 5, 2)
    assert report["dropped"] == {"long": 0, "predicate": 1, "not drawn": 0}
    found = {row["triple"]: row for row in rows(tmp_path / "to" / "triples.jsonl")}
    river = found["隆德 ||| 河 ||| 赫耶河 | 塞格河"]
    assert river["facts"] == ["河 ||| 赫耶河 | 塞格河", "国家 ||| 瑞典"]
    assert found["高等数学 ||| 出版时间 ||| 2004年"]["aliases"] == ["高数"]
    assert river["origin"]["row"] in (4, 5)
    damaged = rows(tmp_path / "to" / "damaged.jsonl")
    assert [(row["row"], row["line"]) for row in damaged] == [(7, "damaged"), (8, "a |||  ||| c")]


def test_a_sample_is_one_of_the_seed_and_filters_hold(base, tmp_path):
    drawn = []
    for number, seed in enumerate((1, 1, 2, 3)):
        step("triples", base, "--sample", 2, "--seed", seed, "--to", tmp_path / str(number))
        drawn.append([row["id"] for row in rows(tmp_path / str(number) / "triples.jsonl")])
    assert drawn[0] == drawn[1] and len({tuple(one) for one in drawn}) > 1 and all(len(one) == 2 for one in drawn)
    step("triples", base, "--sample", 9, "--predicate", "河", "--longest", 4, "--to", tmp_path / "rivers")
    assert len(rows(tmp_path / "rivers" / "triples.jsonl")) == 2
    step("triples", base, "--sample", 9, "--without", "河", "--to", tmp_path / "others")
    assert not any(" 河 " in row["triple"] for row in rows(tmp_path / "others" / "triples.jsonl"))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a\tb\tc", ("a", "b", "c")),
        (" a  b |||c||| d ", ("a b", "c", "d")),
        (
            '<http://x.org/Lund_C> <http://x.org/p#river> "H\\u00f6je \\"\\u00e5\\""@sv .',
            ("Lund C", "river", 'Höje "å"'),
        ),
        ("<http://x.org/Lund> <http://x.org/in> <http://x.org/Sk%C3%A5ne> .", ("Lund", "in", "Skåne")),
    ],
)
def test_three_forms_are_read(line, expected):
    assert triple_of(line) == Triple(*expected)


@pytest.mark.parametrize(
    "line", ["a", "a\tb", "a ||| b", "a ||| b ||| c ||| d", "\t\t", "<http://x> <http://y> z .", '_:a <http://y> "z" .']
)
def test_what_is_no_triple_is_refused(line):
    with pytest.raises(LineFault):
        triple_of(line)


def test_two_files_of_one_name_are_refused(base, tmp_path):
    (tmp_path / "other").mkdir()
    with pytest.raises(CommandError, match="two files have one name"):
        step("triples", base, lines(tmp_path / "other" / "kb.txt", KB), "--sample", 1, "--to", tmp_path / "to")


@pytest.mark.django_db
def test_what_is_drawn_is_imported_and_leads_back_to_its_line(base, tmp_path):
    step("triples", base, "--sample", 10, "--to", tmp_path / "to")
    made = rows(tmp_path / "to" / "triples.jsonl")
    campaign = writing.campaign(rows=made[:2])
    assert [item.external_id for item in campaign.items.order_by("pk")] == [row["id"] for row in made[:2]]
    assert '"file": "kb.txt"' in campaign.items.first().origin.replace('":"', '": "')
    assert factories.annotator(campaign)


@pytest.mark.shared
def test_a_real_knowledge_base_goes_through(shared, tmp_path):
    report = step(
        "triples",
        shared / "nlpcc" / "nlpcc-iccpol-2016.kbqa.kb.sample",
        "--sample",
        20,
        "--alias",
        "别名",
        "--to",
        tmp_path / "to",
    )
    assert report["kept"] == 20 and report["damaged"] == 0
    task = KnowledgeBase()
    assert all(task.item_from_row(row).content["facts"] for row in rows(tmp_path / "to" / "triples.jsonl"))


def test_the_work_grows_with_the_facts_of_a_subject_and_not_with_their_square(tmp_path):
    def calls(facts):
        base = lines(tmp_path / f"{facts}.txt", [f"s ||| p{number} ||| o" for number in range(facts)])
        counted = 0

        def count(frame, event, _argument):
            nonlocal counted
            counted += event == "call" and frame.f_code.co_filename.endswith("steps/triples.py")

        before = sys.getprofile()
        sys.setprofile(count)
        try:
            step("triples", base, "--sample", facts, "--to", tmp_path / str(facts))
        finally:
            sys.setprofile(before)
        return counted

    assert calls(400) < 3 * calls(200)
