"""The server checks every answer again."""

import pytest

from annotation.tasktypes.base import AnswerError, Shown
from annotation.tasktypes.nq.answers import clean_spans, current_stage, path_of, span_text
from annotation.tasktypes.nq.task import NaturalQuestions
from documents.html.markup import Page
from documents.html.tokens import tokenize

NQ = NaturalQuestions()
PAGE = tokenize(Page("<p>one two three four</p><ul><li>five six seven</li><li>eight nine ten</li></ul>"))
SHOWN = Shown({}, PAGE)


def through(*stages, draft=None):
    draft = draft or {}
    for stage, sent in stages:
        draft = NQ.advance(draft, stage, sent, SHOWN)
    return draft


GOOD = ("question", {"label": "good"})


def test_a_bad_question_ends_the_item():
    draft = through(("question", {"label": "bad", "reason": "opinion"}))
    assert current_stage(draft) is None
    answer = NQ.answer(draft, SHOWN)
    assert answer["long_answer"]["candidate_index"] == -1
    assert path_of(answer) == "bad_question"


def test_the_first_judgment_is_frozen_and_a_change_of_mind_stands_beside_it():
    draft = through(GOOD)
    draft = NQ.step_back(draft)
    draft = through(("question", {"label": "bad"}), draft=draft)
    assert draft["question"] == {"first": "good", "label": "bad", "reason": ""}


def test_no_answer_ends_the_item_with_its_reason():
    draft = through(GOOD, ("long_answer", {"candidate_index": "-1", "reason": "spread"}))
    assert current_stage(draft) is None
    assert NQ.answer(draft, SHOWN)["long_answer"] == {"candidate_index": -1, "reason": "spread"}


def test_spans_are_snapped_to_words_and_sorted():
    box = PAGE.candidates[1]
    spans = clean_spans([[box.end_token - 4, box.end_token], [box.start_token, box.start_token + 3]], PAGE, box)
    assert [span_text(span, PAGE) for span in spans] == ["five", "nine ten"]


def test_choosing_another_box_drops_a_short_answer_outside_it():
    first = PAGE.candidates[0]
    marked = ("short_answer", {"kind": "spans", "spans": [[first.start_token + 1, first.start_token + 2]]})
    draft = through(GOOD, ("long_answer", {"candidate_index": 0}), marked)
    assert "short_answer" not in through(("long_answer", {"candidate_index": 1}), draft=draft)
    assert "short_answer" in through(("long_answer", {"candidate_index": 0}), draft=draft)


@pytest.mark.parametrize(
    ("stages", "field"),
    [
        ([("question", {"label": "maybe"})], "label"),
        ([("question", {"label": "bad", "reason": "because"})], "reason"),
        ([("long_answer", {"candidate_index": 0})], "stage"),
        ([GOOD, ("long_answer", {"candidate_index": 99})], "candidate_index"),
        ([GOOD, ("long_answer", {"candidate_index": "x"})], "candidate_index"),
        ([GOOD, ("long_answer", {"candidate_index": 0, "reason": "spread"})], "reason"),
        ([GOOD, ("short_answer", {"kind": "none"})], "kind"),
        ([GOOD, ("long_answer", {"candidate_index": 0}), ("short_answer", {"kind": "spans", "spans": []})], "spans"),
        (
            [GOOD, ("long_answer", {"candidate_index": 0}), ("short_answer", {"kind": "yes", "spans": [[1, 2]]})],
            "spans",
        ),
        (
            [GOOD, ("long_answer", {"candidate_index": 0}), ("short_answer", {"kind": "spans", "spans": [[6, 8]]})],
            "spans",
        ),
        (
            [GOOD, ("long_answer", {"candidate_index": 0}), ("short_answer", {"kind": "spans", "spans": [[0, 1]]})],
            "spans",
        ),
        (
            [
                GOOD,
                ("long_answer", {"candidate_index": 0}),
                ("short_answer", {"kind": "spans", "spans": [[1, 3], [2, 4]]}),
            ],
            "spans",
        ),
        ([GOOD, ("long_answer", {"candidate_index": 0}), ("short_answer", {"kind": "spans", "spans": "x"})], "spans"),
        ([("page", {})], "stage"),
    ],
)
def test_what_cannot_be_an_answer_is_refused_with_its_field(stages, field):
    with pytest.raises(AnswerError) as caught:
        through(*stages)
    assert caught.value.field == field


def test_an_unfinished_draft_is_no_answer():
    with pytest.raises(AnswerError, match="every stage"):
        NQ.answer(through(GOOD), SHOWN)
