"""An answer to a page, with the click log that a browser would send."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from simulation.browser import Form, Page
from simulation.people import Kind, Person

Event = tuple[int, str, int | None]


@dataclass
class Answer:
    """A submission: a form with its values, the seconds it took, and the events meanwhile."""

    form: Form
    values: dict[str, str]
    seconds: float
    events: list[Event] = field(default_factory=list)
    key: str = ""


class Reader(Protocol):
    """Reads the page of one stage and answers as a person would; None if that isn't possible."""

    def __call__(self, page: Page, person: Person, world: Any) -> Answer | None:
        """Return the answer."""


def stage_form(page: Page, with_choice: str = "") -> Form | None:
    """Return the form for the answer of a stage: at ``/stage/`` for members, at ``/answer/`` for visitors."""
    forms = [*page.forms_to("/stage/"), *page.forms_to("/answer/")]
    return next((form for form in forms if not with_choice or with_choice in {*form.choices, *form.fields}), None)


def logged(person: Person, key: str, seconds: float, done: Mapping[float, tuple[str, int | None]]) -> list[Event]:
    """Return a click log: the page is shown, the person sometimes looks away, and acts at given points in time."""
    events: list[Event] = [(0, "stage_shown", None)]
    if person.does("leaves", key):
        away, back = sorted(person.chance("away", key).uniform(0.2, 0.8, 2))
        events += [(int(1000 * seconds * away), "blur", None), (int(1000 * seconds * back), "focus", None)]
    for share, (kind, value) in done.items():
        at = int(1000 * seconds * share)
        events.append((at, kind, value))
        if person.kind is Kind.SCRIPT:
            events.append((at, "untrusted", None))
    return sorted(events)
