"""A question, an answer, and four labels."""

from simulation.browser import Page
from simulation.people import Person
from simulation.reading.base import Answer, logged, stage_form
from simulation.world import World, plain

LABELS = (1, 2, 3, 4)


def shown(page: Page) -> tuple[str, str]:
    """Return the question and the answer to judge."""
    return page.words("#question"), page.words(".candidate .text")


def read(page: Page, person: Person, world: World) -> Answer | None:
    """Choose a label."""
    form, (question, answer) = stage_form(page, "label"), shown(page)
    if form is None or not answer:
        return None
    key = plain(f"{question} {answer}")
    label = LABELS[person.choose(key, world.pair(question, answer).said)]
    seconds = person.seconds(key, len(key.split()))
    return Answer(form, {"label": str(label)}, seconds, logged(person, key, seconds, {1.0: ("answer", None)}), key)
