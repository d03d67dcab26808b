"""The three stages of Natural Questions: the question, the answering box, and the answering words."""

import json

import numpy as np

from simulation.browser import Page
from simulation.people import Kind, Person
from simulation.questions import BAD_REASONS, QuestionWorld
from simulation.reading.base import Answer, logged, stage_form
from simulation.world import plain

POPULAR_WORDS = (0.64, 0.18, 0.18)  # shares of the ways in which the words of an answer are delimited
SHARES = {"question": 0.12, "long_answer": 0.63, "short_answer": 0.25}  # of the time for a question


def _asked(page: Page) -> str:
    return plain(page.words("#question"))


def read_question(page: Page, person: Person, world: QuestionWorld) -> Answer | None:
    """Judge whether the question is good."""
    question = _asked(page)
    asked, chance = world.asked(question), person.chance("good", question)
    share = asked.bad if chance.random() < person.attention() else 0.5
    is_bad = person.kind is not Kind.CONSTANT and chance.random() < share
    form = next((one for one in page.forms if (("bad" if is_bad else "good") in one.choices.get("label", []))), None)
    if form is None:
        return None
    reason = BAD_REASONS[int(chance.integers(len(BAD_REASONS)))] if is_bad and chance.random() < 0.7 else ""
    seconds = person.seconds(f"question {question}", 10, SHARES["question"])
    values = {"label": "bad", "reason": reason} if is_bad else {"label": "good"}
    return Answer(
        form, values, seconds, logged(person, f"q {question}", seconds, {1.0: ("answer", None)}), f"q {question}"
    )


def read_page(page: Page, person: Person, world: QuestionWorld) -> Answer | None:
    """Find the answering box, or answer that there is none."""
    form, question = stage_form(page, "candidate_index"), _asked(page)
    if form is None:
        return None
    boxes = page.document.select("[data-document] [data-box]")
    box = _box(person, world, question, [element.tag for element in boxes])
    index = -1 if box is None else int(str(boxes[box].attrs["data-box"]))
    seconds = person.seconds(f"page {question}", len(boxes), SHARES["long_answer"])
    done: dict[float, tuple[str, int | None]] = {0.3: ("box_focus", 0), 0.5: ("heading", 1)}
    done |= {0.9: ("box_choose", index)} if index >= 0 else {1.0: ("answer", None)}
    return Answer(
        form, {"candidate_index": str(index)}, seconds, logged(person, f"p {question}", seconds, done), f"p {question}"
    )


def _box(person: Person, world: QuestionWorld, question: str, tags: list[str]) -> int | None:
    """Return the index of the box that a person chooses on a page; None if the person finds none."""
    asked, chance = world.asked(question), person.chance("box", question)
    if not tags:
        return None
    if chance.random() >= person.attention():
        return int(chance.integers(len(tags))) if chance.random() < 0.5 else None
    # Some look longer than others before they give up.
    finds = asked.found ** (0.6 + 0.8 * person.chance("patience").random())
    if chance.random() >= finds:
        return None
    return world.boxes(question, tags)[int(chance.choice(3, p=np.array(asked.boxes)))]


def read_box(page: Page, person: Person, world: QuestionWorld) -> Answer | None:
    """Mark the words in the box, or answer yes, no or none."""
    form, question = stage_form(page, "spans"), _asked(page)
    element = page.document.select_one("#box-words")
    if form is None or element is None:
        return None
    words, chance = json.loads(element.text or "[]"), person.chance("words", question)
    asked = world.asked(question)
    kind = asked.kind if chance.random() < 0.9 * person.attention() else ("spans", "none")[int(chance.integers(2))]
    seconds = person.seconds(f"box {question}", len(words), SHARES["short_answer"])
    values = {"kind": kind, "spans": "[]"}
    done: dict[float, tuple[str, int | None]] = {1.0: ("answer", None)}
    if kind == "spans" and words:
        start, end = world.words(question, len(words), int(chance.choice(3, p=POPULAR_WORDS)))
        values["spans"] = json.dumps([[words[start][0], words[end - 1][0] + 1]])
        done[0.8] = ("span_add", end - start)
    elif kind == "spans":
        values["kind"] = "none"
    return Answer(form, values, seconds, logged(person, f"b {question}", seconds, done), f"b {question}")
