"""Questions that people write for a fact or a sentence, review, and answer blind.

A question is written from a template and the text on the page, with one of several openings. People who don't read ask
for something that isn't on the page. People who answer blind compare the question with the choices.
"""

import re
from dataclasses import dataclass

from simulation.browser import Form, Page
from simulation.people import Person
from simulation.reading.base import Answer, logged, stage_form
from simulation.world import plain

OPENINGS = ("", "请问", "你知道", "想知道", "谁能说说")
ENDINGS = ("是什么？", "是哪一个？", "到底是什么？")
ASIDE = ("天气怎么样？", "有什么好看的地方？", "今天几点开门？")
REASONS = ("wrong", "unclear")
LIKE = 0.3  # of the pairs of signs of a question that stand in what answers it, at least


@dataclass(frozen=True)
class WritingWorld:
    """The rules for writing questions; the right answers are on the page.

    ``edits``: how often a reviewer who accepts a question makes a small change.
    """

    seed: int
    edits: float = 0.06


def _pairs(text: str) -> set[str]:
    signs = re.sub(r"\W", "", text)
    return {signs[place : place + 2] for place in range(len(signs) - 1)}


def likeness(question: str, text: str) -> float:
    """Return the share of a question's pairs of characters that occur in a text.

    Examples
    --------
    >>> likeness("湖位于", "湖位于南方。"), likeness("几点", "湖位于南方。")
    (1.0, 0.0)
    """
    asked = _pairs(question)
    return len(asked & _pairs(text)) / len(asked) if asked else 0.0


def _about(page: Page) -> tuple[str, str]:
    """Return the topic of a question and the text that it mustn't contain: a fact's object, or a sentence's end."""
    fact = [" ".join(part.text.split()) for part in page.document.select("dl.fact dd")]
    if fact:
        return f"{re.split(r' [(（]', fact[0])[0]}的{fact[1]}", fact[2]
    sentence = page.words("[data-chosen]")
    cut = max(2, 2 * len(sentence) // 3)
    return sentence[:cut], sentence[cut:]


def read_pick(page: Page, person: Person, world: WritingWorld) -> Answer | None:
    """Choose a sentence."""
    form = stage_form(page, "sentence")
    if form is None:
        return None
    key = plain(" ".join(label.text for label in page.document.select(".sentences label")))
    choices = form.choices["sentence"]
    chosen = choices[int(person.chance("pick", key).integers(len(choices)))]
    seconds = person.seconds(f"pick {key}", len(key) // 2, 0.4)
    return Answer(
        form,
        {"sentence": chosen},
        seconds,
        logged(person, f"pick {key}", seconds, {1.0: ("answer", None)}),
        f"pick {key}",
    )


def read_write(page: Page, person: Person, world: WritingWorld) -> Answer | None:
    """Write a question."""
    form, (about, _hidden) = stage_form(page, "question"), _about(page)
    if form is None or not about:
        return None
    key = f"write {about}"
    chance = person.chance(key, person.refused[key])  # in other words, if someone else has asked in these
    opening = OPENINGS[int(chance.integers(len(OPENINGS)))]
    if chance.random() < person.attention():
        text = f"{opening}{about}{ENDINGS[int(chance.integers(len(ENDINGS)))]}"
    else:  # something else about the same thing: new, and without an answer in the material
        text = f"{opening}{about[:2]}{int(chance.integers(10_000))}{ASIDE[int(chance.integers(len(ASIDE)))]}"
    seconds = person.seconds(key, len(text), 0.6)
    return Answer(form, {"question": text}, seconds, logged(person, key, seconds, {1.0: ("answer", None)}), key)


def _decision(page: Page, name: str) -> Form | None:
    return next((form for form in page.forms if form.fields.get("decision") == name), None)


def read_review(page: Page, person: Person, world: WritingWorld) -> Answer | None:
    """Accept, change or reject another person's question."""
    asked, (about, hidden) = page.words(".asked"), _about(page)
    if not asked or not about:
        return None
    key, chance = f"review {asked}", person.chance("review", asked)
    fits = likeness(asked, about + hidden) >= LIKE
    if chance.random() >= person.attention():
        fits = chance.random() < 0.8
    name = "reject" if not fits else "edit" if chance.random() < world.edits else "accept"
    form = _decision(page, name)
    if form is None:
        return None
    more = {
        "accept": {},
        "edit": {
            "question": f"请问{asked.removeprefix('请问')}"
            if not asked.startswith("请问")
            else asked.removeprefix("请问")
        },
        "reject": {"reason": REASONS[int(chance.integers(len(REASONS)))]},
    }[name]
    seconds = person.seconds(key, len(asked) + len(about), 0.4)
    return Answer(form, more, seconds, logged(person, key, seconds, {1.0: ("answer", None)}), key)


def read_recover(page: Page, person: Person, world: WritingWorld) -> Answer | None:
    """Choose the answer to a question, without knowing what it was written for."""
    form, asked = stage_form(page, "choice"), page.words("#question")
    if form is None:
        return None
    texts = [label.text for label in page.document.select(".sentences label")]
    key, chance = f"recover {asked}", person.chance("recover", asked)
    # The last one says that none of them does.
    likely = [likeness(asked, text) for text in texts[:-1]]
    best = max(range(len(likely)), key=likely.__getitem__) if likely else -1
    place = best if likely and likely[best] > 0 else -1
    if chance.random() >= person.attention():
        place = int(chance.integers(-1, len(likely)))
    seconds = person.seconds(key, sum(map(len, texts)) // 2, 0.4)
    values = {"choice": form.choices["choice"][place]}
    return Answer(form, values, seconds, logged(person, key, seconds, {1.0: ("answer", None)}), key)
