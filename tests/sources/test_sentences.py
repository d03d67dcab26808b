"""Texts cut into sentences, in Chinese and English."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.tasktypes.dbqa.task import DocumentBased
from sources.rules.sentences import sentences
from tests.sources.files import lines, rows, step


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("贝加尔湖位于西伯利亚。它很深！你知道吗？知道", ["贝加尔湖位于西伯利亚。", "它很深！", "你知道吗？", "知道"]),
        ("他说：“走吧。”我们就走了。", ["他说：“走吧。”", "我们就走了。"]),
        ("真的？！是。", ["真的？！", "是。"]),
        ("等等……然后呢？", ["等等……", "然后呢？"]),
        ("Lund lies in Scania. Its cathedral is old.", ["Lund lies in Scania.", "Its cathedral is old."]),
        ("Dr. Ek came at 3.5 p.m. on Monday. He left.", ["Dr. Ek came at 3.5 p.m. on Monday.", "He left."]),
        ("J. R. Ek wrote it, e.g. in the U.S. Army. Why?", ["J. R. Ek wrote it, e.g. in the U.S. Army.", "Why?"]),
        ('She said "Stop!" Then she left.', ['She said "Stop!"', "Then she left."]),
        ("one line\n\n two   blanks ", ["one line", "two blanks"]),
        ("", []),
    ],
)
def test_sentences_by_hand(text, expected):
    assert list(sentences(text)) == expected


@given(st.text(alphabet='a甲B.。!？ …”"\n1', max_size=60))
def test_nothing_is_lost_and_nothing_is_added(text):
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


def test_documents_are_rows_that_can_be_imported(tmp_path):
    texts = lines(
        tmp_path / "texts.jsonl",
        [
            {"title": "湖", "text": "它很深。它很冷。它很深。"},
            {"text": "一句。"},
            {"title": "again", "text": "它很深。它很冷。它很深。"},
            {"title": "long", "text": "短。" + "长" * 600 + "。也短。"},
        ],
    )
    (tmp_path / "Lund.txt").write_text("Lund is old.\nIt lies in Scania. It is small.", encoding="utf-8")
    report = step("sentences", texts, tmp_path / "Lund.txt", "--most", 2, "--to", tmp_path / "to")
    assert (report["read"], report["kept"], report["cut"], report["long_sentences"]) == (5, 3, 1, 1)
    assert report["dropped"] == {"few sentences": 1, "text stands twice": 1, "not drawn": 0}
    made = rows(tmp_path / "to" / "documents.jsonl")
    assert [row["sentences"] for row in made] == [
        ["它很深。", "它很冷。"],
        ["短。", "也短。"],
        ["Lund is old.", "It lies in Scania."],
    ]
    assert made[2]["title"] == "Lund" and made[0]["origin"]["row"] == 1
    assert [DocumentBased().item_from_row(row).external_id for row in made] == [row["id"] for row in made]


def test_a_sample_of_documents_is_drawn_by_seed(tmp_path):
    texts = lines(tmp_path / "texts.jsonl", [{"title": str(n), "text": f"第{n}句。又一句。"} for n in range(20)])
    drawn = []
    for number, seed in enumerate((1, 1, 2)):
        step("sentences", texts, "--sample", 5, "--seed", seed, "--to", tmp_path / str(number))
        drawn.append([row["title"] for row in rows(tmp_path / str(number) / "documents.jsonl")])
    assert drawn[0] == drawn[1] != drawn[2] and len(drawn[0]) == 5
