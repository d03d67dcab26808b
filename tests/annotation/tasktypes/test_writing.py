"""What is said of a question while it is written, and which rows are triples or documents."""

import pytest

from annotation.tasktypes.base import AnswerError, Shown
from annotation.tasktypes.dbqa.task import DocumentBased
from annotation.tasktypes.kbqa.task import KnowledgeBase
from annotation.tasktypes.writing.texts import key_of, one_line
from storage.tables.faults import RowError
from tests import writing

KBQA, DBQA = KnowledgeBase(), DocumentBased()
FACT = KBQA.item_from_row(writing.TRIPLES[0]).content
PAGE = DBQA.item_from_row(writing.DOCUMENTS[0]).content


def said(task, content, text, picked=None, taken=()):
    shown = Shown(content, is_written=lambda key: key in taken)
    return {remark.key: remark.refuses for remark in task.checks(text, picked or {}, shown)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("高等数学是哪一年出版的？", {}),
        ("高数是哪一年出版的？", {}),  # another name of the subject
        ("", {"empty": True}),
        ("？！", {"empty": True}),
        ("高等数学是2004年出版的吗？", {"answer": True}),
        ("高等数学是２００４ 年出版的吗？", {"answer": True}),  # full width, and a blank
        ("这本书是哪一年出版的？", {"subject": False}),
        ("高等数学哪年出版？作者是谁？", {"several": False}),
        ("高等数学" * 40, {"long": False}),
    ],
)
def test_what_is_said_of_a_question_for_a_fact(text, expected):
    assert said(KBQA, FACT, text) == expected


def test_an_answer_of_one_sign_warns_alone():
    content = KBQA.item_from_row({"triple": "王安 ||| 性别 ||| 男"}).content
    assert said(KBQA, content, "王安是男人吗？") == {"hint": False}


def test_one_of_several_answers_is_an_answer():
    content = KBQA.item_from_row({"triple": "隆德 ||| 河 ||| 赫耶河 | 塞格河"}).content
    assert said(KBQA, content, "流经隆德的是塞格河吗？") == {"answer": True}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("世界上哪个湖的水最深？", {}),
        ("它是世界上最深的淡水湖？", {"copy": True}),
        ("世界上最深的淡水湖是哪个？", {"near": False}),
    ],
)
def test_what_is_said_of_a_question_for_a_sentence(text, expected):
    assert said(DBQA, PAGE, text, {"sentence": 1}) == expected


def test_a_question_that_was_written_before_is_refused_whatever_its_signs():
    taken = {key_of("高等数学是哪一年出版的？")}
    assert said(KBQA, FACT, "高等数学 是哪一年出版的?", taken=taken) == {"taken": True}
    with pytest.raises(AnswerError, match="already exists"):
        KBQA.advance({}, "write", {"question": "高等数学是哪一年出版的"}, Shown(FACT, is_written=taken.__contains__))


def test_short_is_judged_by_signs_and_not_in_chinese():
    content = KBQA.item_from_row({"triple": "Lund ||| river ||| Höje å"}).content
    assert said(KBQA, content, "Lu?")["short"] is True
    assert "short" not in said(KBQA, FACT, "高数？")


@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b", "x" * 501])
def test_texts_that_cannot_be_published_are_refused(text):
    with pytest.raises(AnswerError):
        one_line(text, "question")


def test_texts_are_one_line_in_one_form():
    assert one_line(" e\u0301 \t\n b ", "question") == "é b"


@pytest.mark.parametrize(
    ("row", "column"),
    [
        ({"triple": "a ||| b"}, "triple"),
        ({"triple": "a ||| b ||| c ||| d"}, "triple"),
        ({"triple": "a |||  ||| c"}, "triple"),
        ({"subject": "a", "predicate": "b"}, "object"),
        ({"subject": "a", "predicate": "b", "object": 4}, "object"),
        ({"triple": "a ||| b ||| c", "facts": ["x"]}, "facts"),
        ({"triple": "a ||| b ||| c", "facts": "x ||| y"}, "facts"),
        ({"triple": "a ||| b ||| c", "aliases": [7]}, "aliases"),
    ],
)
def test_rows_that_are_no_triple_name_their_column(row, column):
    with pytest.raises(RowError) as refused:
        KBQA.item_from_row(row)
    assert refused.value.column == column


def test_the_fact_that_is_asked_about_is_among_the_facts():
    content = KBQA.item_from_row(
        {"triple": "a ||| b ||| c", "facts": ["d ||| e", ["d", "e"]], "aliases": "A | AA"}
    ).content
    assert sorted(content["facts"]) == [["b", "c"], ["d", "e"]] and content["aliases"] == ["A", "AA"]


@pytest.mark.parametrize(
    "sentences", [None, [], ["one"], ["one", "one"], ["one", 2], "one", ["a\x07", "b"], [f"s {n}" for n in range(201)]]
)
def test_rows_that_are_no_document_name_their_column(sentences):
    with pytest.raises(RowError) as refused:
        DBQA.item_from_row({"sentences": sentences})
    assert refused.value.column == "sentences"


def test_an_item_is_listed_by_what_who_answers_blind_may_read():
    assert FACT["question_text"] == "高等数学"  # not what is asked of it
    assert PAGE["question_text"] == "贝加尔湖"
    assert DBQA.item_from_row({"sentences": ["a b", "c d"]}).content["question_text"] == "a b"


def test_a_document_is_a_list_of_sentences_or_its_lines():
    assert DBQA.item_from_row({"sentences": "一。\n\n二。\n"}).content["sentences"] == ["一。", "二。"]


@pytest.mark.parametrize(
    ("stage", "sent", "field"),
    [
        ("pick", {"sentence": "3"}, "sentence"),
        ("pick", {"sentence": "-1"}, "sentence"),
        ("pick", {"sentence": "x"}, "sentence"),
        ("write", {"question": "谁？"}, "stage"),  # before a sentence is chosen
        ("review", {"decision": "accept"}, "stage"),  # which this item does not ask
    ],
)
def test_answers_out_of_place_are_refused(stage, sent, field):
    with pytest.raises(AnswerError) as refused:
        DBQA.advance({}, stage, sent, Shown(PAGE))
    assert refused.value.field == field


REVIEW = {**PAGE, "asks": "review", "sentence": 1, "question": "哪个湖最深？"}


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({}, "decision"),
        ({"decision": "reject"}, "reason"),
        ({"decision": "reject", "reason": "ugly"}, "reason"),
        ({"decision": "edit", "question": "哪个湖最深？"}, "question"),  # nothing was changed
        ({"decision": "edit", "question": "它是世界上最深的淡水湖"}, "question"),  # a copy
    ],
)
def test_reviews_that_decide_nothing_are_refused(sent, field):
    with pytest.raises(AnswerError) as refused:
        DBQA.advance({}, "review", sent, Shown(REVIEW))
    assert refused.value.field == field


def test_remarks_are_those_of_the_text_in_the_draft():
    draft = {"done": ["pick"], "pick": {"sentence": 1}, "suggestion": {"write": {"question": "它是世界上最深的淡水湖"}}}
    assert [remark.key for remark in DBQA.remarks(draft, Shown(PAGE))] == ["copy"]
    assert not DBQA.remarks({}, Shown(PAGE))  # a sentence comes first
    assert not DBQA.remarks({"suggestion": {"review": {"reason": "wrong"}}}, Shown(REVIEW))
    edited = {"suggestion": {"review": {"decision": "edit", "question": "它是世界上最深的淡水湖"}}}
    assert [remark.key for remark in DBQA.remarks(edited, Shown(REVIEW))] == ["copy"]


def test_a_blind_answer_is_right_by_its_text():
    content = {
        **FACT,
        "asks": "recover",
        "question": "？",
        "facts": [["出版时间", "2004年"], ["修订时间", "2004 年"], ["页数", "312"]],
    }
    for choice, right in ((0, True), (1, True), (2, False), (-1, False)):
        draft = KBQA.advance({}, "recover", {"choice": str(choice)}, Shown(content))
        assert KBQA.recovers(content, KBQA.answer(draft, Shown(content))) is right


def test_redacting_leaves_no_text():
    answer = {"asks": "review", "decision": "edit", "question": "a", "was": "b", "note": "c", "reason": ""}
    assert KBQA.redact(answer) == {
        "asks": "review",
        "decision": "edit",
        "question": "",
        "was": "",
        "note": "",
        "reason": "",
    }


def test_the_place_of_the_right_fact_tells_nothing():
    rows = [{"triple": f"s{n} ||| p ||| o", "facts": ["a ||| 1", "b ||| 2"]} for n in range(30)]
    assert {KBQA.answers_to(KBQA.item_from_row(row).content, {})[1] for row in rows} == {0, 1, 2}
