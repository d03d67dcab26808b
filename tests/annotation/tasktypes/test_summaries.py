"""An answer is told in the language of the reader, its fixed values too."""

import pytest
from django.utils.translation import override

from annotation.tasktypes.registry import answer_summary
from tests.annotation.tasktypes.test_nq_answers import NQ, PAGE, SHOWN, through

WORDS = {"asks": "review", "question": "哪年？", "was": "何年？", "note": ""}


def told(task_type, answer, language, page=None):
    with override(language):
        return dict(answer_summary(task_type, answer, page).lines)


@pytest.mark.parametrize(
    ("task_type", "answer", "english", "chinese"),
    [
        ("antique", {"label": 4, "way": ""}, ["4 – convincing", "none"], ["4 – 有说服力", "无"]),
        ("kbqa", {**WORDS, "decision": "edit"}, ["edited", "哪年？", "何年？"], ["已修改", "哪年？", "何年？"]),
        (
            "dbqa",
            {**WORDS, "decision": "reject", "reason": "duplicate"},
            ["rejected", "哪年？", "It repeats another question"],
            ["已拒绝", "哪年？", "与另一个问题重复"],
        ),
    ],
)
def test_fixed_values_are_words(task_type, answer, english, chinese):
    assert list(told(task_type, answer, "en").values()) == english
    assert list(told(task_type, answer, "zh-hans").values()) == chinese


def test_a_bad_question_and_an_absent_answer_are_named_with_their_reasons():
    bad = NQ.answer(through(("question", {"label": "bad", "reason": "not_a_request"})), SHOWN)
    assert list(told("nq", bad, "en", PAGE).values()) == ["bad", "Doesn't ask for facts"]
    absent = NQ.answer(through(("question", {"label": "good"}), ("long_answer", {"candidate_index": -1})), SHOWN)
    assert list(told("nq", absent, "en", PAGE).values()) == ["good", "none"]
    assert list(told("nq", absent, "zh-hans", PAGE).values()) == ["良好", "无"]
