"""A world of questions, and the words and pages that replays are made of."""

import gzip
import json
from collections import Counter

import numpy as np
import pytest

from replays.pages import page
from replays.words import answer, lexicon, question
from simulation.browser import Page
from simulation.people import Habits, Person
from simulation.questions import QuestionWorld, Shares
from simulation.reading.nq import read_box, read_page, read_question
from simulation.world import chance_of

STILL = Habits(returns=0, abandons=0, skips=0, twice=0, undoes=0, tabs=0, leaves=0, fatigue=0, drift=0)


def careful(number):
    return Person(4, number, 1.0, np.ones(2) / 2, habits=STILL)


def test_questions_are_bad_and_answered_as_often_as_the_paper_reports():
    world = QuestionWorld(1)
    asked = [world.asked(f"question {number}") for number in range(4_000)]
    assert np.mean([one.bad for one in asked]) == pytest.approx(0.14, abs=0.015)
    assert np.mean([(1 - one.bad) * one.found for one in asked]) == pytest.approx(0.49, abs=0.02)
    kinds = Counter(one.kind for one in asked)
    assert kinds["spans"] / len(asked) == pytest.approx(35 / 49, abs=0.03)
    assert np.mean([one.boxes[0] for one in asked]) == pytest.approx(0.83, abs=0.02)
    assert world.asked("question  7") == QuestionWorld(1).asked("question 7")
    assert QuestionWorld(1, Shares(bad=0.5)).shares.bad == 0.5


def test_answers_lie_near_the_top_in_boxes_of_the_right_kind():
    world, tags = QuestionWorld(2), ["p", "table", "tr", "tr", "ul", "li", "li"] + ["p"] * 93
    found = [(world.asked(f"q {n}"), world.boxes(f"q {n}", tags)) for n in range(500)]
    assert all(tags[box] == asked.tag for asked, boxes in found for box in boxes)
    firsts = [boxes[0] for asked, boxes in found if asked.tag == "p"]
    assert np.median(firsts) < 30
    assert world.boxes("q 1", []) == []
    assert world.boxes("q 1", ["dl", "dl"])[0] in (0, 1)  # a page that has no such box


def test_words_lie_inside_the_box_and_differ_at_the_edges():
    world = QuestionWorld(3)
    for number in range(200):
        for count in (1, 2, 30):
            ranges = {world.words(f"q {number}", count, variant) for variant in range(3)}
            assert all(0 <= start < end <= count for start, end in ranges)
    assert len({world.words("q 5", 30, variant) for variant in range(3)}) > 1


STAGE = '<div class="stage" data-stage="{stage}"><h1 id="question">why is it so</h1>{body}</div>'


def test_each_stage_is_read_and_answered_by_its_own_form():
    body = (
        '<form method="post" action="/assignments/1/stage/"><button name="label" value="good">G</button></form>'
        '<form method="post" action="/assignments/1/stage/"><button name="label" value="bad">B</button>'
        '<input type="radio" name="reason" value="opinion"></form>'
    )
    world = QuestionWorld(5)
    said = Counter(
        read_question(Page("http://x/", 200, STAGE.format(stage="question", body=body)), careful(n), world).values[
            "label"
        ]
        for n in range(60)
    )
    assert said["bad"] / 60 == pytest.approx(world.asked("why is it so").bad, abs=0.2)
    boxes = '<article data-document><p data-box="3">a</p><ul data-box="7"><li data-box="8">b</li></ul></article>'
    form = '<form method="post" action="/assignments/1/stage/"><input type="hidden" name="candidate_index" value=""></form>'
    there = Page("http://x/", 200, STAGE.format(stage="long_answer", body=boxes + form))
    chosen = {read_page(there, careful(n), world).values["candidate_index"] for n in range(80)}
    assert chosen <= {"-1", "3", "7", "8"}
    words = '<script id="box-words" type="application/json">[[10, "a"], [12, "b"], [13, "c"]]</script>'
    form = '<form method="post" action="/assignments/1/stage/"><input name="spans" value="[]"><input type="radio" name="kind" value="spans"></form>'
    box = Page("http://x/", 200, STAGE.format(stage="short_answer", body=words + form))
    for number in range(40):
        values = read_box(box, careful(number), world).values
        assert (values["kind"] == "spans") == (values["spans"] != "[]")
        for start, end in json.loads(values["spans"]):
            assert start in (10, 12, 13)
            assert end - 1 in (10, 12, 13)
            assert start < end


def test_a_form_that_is_not_there_is_not_answered():
    empty, world = Page("http://x/", 200, STAGE.format(stage="question", body="")), QuestionWorld(5)
    assert read_question(empty, careful(1), world) is None
    assert read_page(empty, careful(1), world) is None
    assert read_box(empty, careful(1), world) is None


def test_texts_are_as_long_as_those_of_the_papers_and_follow_from_a_seed():
    lengths = [len(question(chance_of("q", n)).split()) for n in range(600)]
    assert np.mean(lengths) == pytest.approx(10.5, abs=0.8)
    lengths = [len(answer(chance_of("a", n)).split()) for n in range(600)]
    assert np.mean(lengths) == pytest.approx(47.75, rel=0.12)
    assert question(chance_of("q", 1)) == question(chance_of("q", 1)) != question(chance_of("q", 2))
    assert len(set(lexicon())) == 3_000


def test_pages_are_as_large_as_those_of_natural_questions_with_a_tail():
    sizes = [len(page(1, number)) for number in range(60)]
    assert 30_000 < np.mean(sizes) < 120_000
    assert max(sizes) > 2.5 * np.median(sizes)
    assert len(gzip.compress(page(1, 0).encode())) > 0.15 * len(page(1, 0))  # as dense as a text that means something
    for tag in ("<h2>", "<table>", "<ul>", "<p>"):
        assert tag in page(1, 0)
