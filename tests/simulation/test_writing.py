"""How the crowd writes, reviews and answers questions: by what the page shows."""

from collections import Counter

import numpy as np

from simulation.browser import Page
from simulation.people import Habits, Person
from simulation.reading.writing import WritingWorld, likeness, read_pick, read_recover, read_review, read_write

WORLD = WritingWorld(1)
FACT = '<dl class="fact"><dt>S</dt><dd>高等数学 <span>(also: 高数)</span></dd><dt>P</dt><dd>出版时间</dd><dt>O</dt><dd>2004年</dd></dl>'
FORM = '<form method="post" action="/assignments/1/stage/">{}</form>'


def person(number, care=1.0):
    still = Habits(returns=0, abandons=0, skips=0, twice=0, undoes=0, tabs=0, leaves=0, fatigue=0, drift=0)
    return Person(4, number, care, np.ones(2) / 2, habits=still)


def page(stage, body):
    return Page("http://x/", 200, f'<div class="stage" data-stage="{stage}">{body}</div>')


def decisions(asked, care=1.0, people=60):
    forms = "".join(
        FORM.format(
            f'<input type="hidden" name="decision" value="{name}"><input type="radio" name="reason" value="wrong">'
        )
        for name in ("accept", "edit", "reject")
    )
    shown = page("review", f'{FACT}<p class="asked">{asked}</p>{forms}')
    return Counter(read_review(shown, person(n, care), WORLD).form.fields["decision"] for n in range(people))


def test_a_question_names_the_subject_and_the_predicate_and_never_the_object():
    shown = page("write", FACT + FORM.format('<textarea name="question"></textarea>'))
    written = {read_write(shown, person(number), WORLD).values["question"] for number in range(40)}
    assert len(written) > 3
    assert all("高等数学的出版时间" in text and "2004" not in text for text in written)
    assert "高等数学的出版时间" not in read_write(shown, person(1, care=0.0), WORLD).values["question"]


def test_a_question_for_a_sentence_leaves_its_end_out():
    shown = page(
        "write",
        "<p><mark><span>选中的句子：</span> <span data-chosen>贝加尔湖位于西伯利亚的南部。</span></mark></p>"
        + FORM.format('<textarea name="question"></textarea>'),
    )
    text = read_write(shown, person(1), WORLD).values["question"]
    assert "贝加尔湖位于" in text and "选中" not in text
    assert "南部" not in text


def test_a_reviewer_accepts_what_asks_for_the_fact_and_rejects_what_does_not():
    good, bad = decisions("请问高等数学的出版时间是什么？"), decisions("高等4711天气怎么样？")
    assert good["reject"] == 0 < good["edit"] < good["accept"]
    assert set(bad) == {"reject"}
    assert decisions("高等4711天气怎么样？", care=0.0)["accept"] > 30  # who does not read accepts nearly all


def test_who_answers_blind_finds_what_was_asked_for_or_says_that_nothing_answers_it():
    labels = "".join(
        f'<li><label><input type="radio" name="choice" value="{place}">{text}</label></li>'
        for place, text in ((0, "页数: 312"), (1, "出版时间: 2004年"), (-1, "None of these answers the question"))
    )
    body = '<h1 id="question">{}</h1>' + FORM.format(f'<ol class="sentences">{labels}</ol>')
    found = [
        read_recover(page("recover", body.format("高等数学的出版时间是什么？")), person(n), WORLD) for n in range(9)
    ]
    assert {answer.values["choice"] for answer in found} == {"1"}
    assert read_recover(page("recover", body.format("高等4711天气怎么样？")), person(1), WORLD).values["choice"] == "-1"


def test_a_sentence_is_picked_among_those_there_are():
    labels = "".join(f'<label><input type="radio" name="sentence" value="{n}">句子{n}</label>' for n in range(5))
    shown = page("pick", FORM.format(f'<div class="sentences">{labels}</div>'))
    assert {read_pick(shown, person(n), WORLD).values["sentence"] for n in range(40)} == set("01234")


def test_likeness_is_the_share_of_pairs_of_signs():
    assert likeness("湖位于", "湖位于南方。") == 1
    assert likeness("几点", "湖位于南方。") == 0
    assert likeness("", "湖") == 0
