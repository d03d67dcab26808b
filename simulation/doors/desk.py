"""A person on the pages for answering items: the reaction to each page, whatever door the person came by."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from simulation.browser import Browser, Form, Page
from simulation.people import Person
from simulation.reading.base import Answer, Reader
from simulation.reading.nq import read_box, read_page, read_question
from simulation.reading.relevance import read as read_relevance
from simulation.reading.writing import read_pick, read_recover, read_review, read_write

# By the name that a page gives its stage.
READERS: dict[str, Reader] = {
    "relevance": read_relevance,
    "question": read_question,
    "long_answer": read_page,
    "short_answer": read_box,
    "pick": read_pick,
    "write": read_write,
    "review": read_review,
    "recover": read_recover,
}
SKIP_REASON = "unclear"
MOST_PIECES = 999
PATIENCE = 5  # answers to one item that a page does not take, after which someone leaves it to others


class PageBroke(RuntimeError):
    """A page responded with an error that no person could have caused."""


@dataclass
class Desk:
    """One person, with their browser and their world.

    ``seconds``: the time that they have worked by the simulated clock; the simulation doesn't wait that long.
    """

    person: Person
    world: Any
    browser: Browser = field(default_factory=Browser)
    readers: Mapping[str, Reader] = field(default_factory=lambda: READERS)
    seconds: float = 0.0
    answers: int = 0
    times: list[float] = field(default_factory=list)
    _old: tuple[Form, dict[str, str]] | None = None
    _taken_back: set[str] = field(default_factory=set)
    _began: float = 0.0

    def onward(self, page: Page) -> Page | None:
        """Respond to a page and return the next page; None if the page offers nothing to do."""
        if page.status in (
            403,
            404,
            409,
            422,
        ):  # not theirs, or not like this: a person goes back to where work is found
            return None
        if page.status >= 400:
            raise PageBroke(f"{page.status} at {page.url}: {page.text[-300:]}")
        return self._through_the_door(page) or self._answered(page)

    def _through_the_door(self, page: Page) -> Page | None:
        """Do the steps before the first item: give consent, read changed guidelines, do the training, begin."""
        for part in ("/agree/", "/consent/", "/guidelines/"):
            form = page.form_to(part)
            if form is not None and not page.stage:
                self.seconds += 30
                return self.browser.send(form)
        lesson = next((form for form in page.forms if "number" in form.fields), None)
        if lesson is not None:
            return self._learn(page, lesson)
        begin = next((link for link in page.links if link.endswith("?begin")), None)
        return self.browser.get(begin) if begin else None

    def _learn(self, page: Page, lesson: Form) -> Page | None:
        reader = self.readers.get(page.stage.get("data-stage", ""))
        # The form of a lesson stands where that of an item does.
        page.forms[page.forms.index(lesson)] = Form("/answer/", lesson.method, lesson.fields, lesson.choices)
        answer = reader(page, self.person, self.world) if reader else None
        if answer is None:
            return None
        self.seconds += answer.seconds
        return self.browser.send(lesson, **answer.values)

    def _answered(self, page: Page) -> Page | None:
        stage = page.stage.get("data-stage", "")
        reader = self.readers.get(stage)
        answer = reader(page, self.person, self.world) if reader else None
        if answer is None:
            return None
        skip = page.form_to("/skip/")
        has_had_enough = self.person.refused[answer.key] >= PATIENCE
        if skip is not None and (has_had_enough or self.person.does("skips", answer.key)):
            self.seconds += answer.seconds
            return self.browser.send(skip, reason=SKIP_REASON)
        if has_had_enough:
            return None
        return self._send(page, answer)

    def _send(self, page: Page, answer: Answer) -> Page:
        self.seconds += answer.seconds
        reserve = page.stage.get("data-reserve-url")
        token = answer.form.fields.get("csrfmiddlewaretoken", "")
        if reserve:
            self.browser.post(page.at(reserve), csrfmiddlewaretoken=token)
        values = {"active_seconds": f"{answer.seconds:.1f}", **self._clicks(answer), **answer.values}
        self._old_tab(answer)
        after = self.browser.send(answer.form, **values)
        if after.status == 422:
            self.person.refused[answer.key] += 1
            return page  # it stays, with the reason
        if self.person.does("twice", answer.key):
            self.browser.send(answer.form, **values)  # a double click: the page that came first stays
        self._old = (answer.form, values)
        if after.stage.get("data-assignment") != page.stage.get("data-assignment"):
            self.person.done()
            self.answers += 1
            self.times.append(self.seconds - self._began)
            self._began = self.seconds
        undo = after.form_to("/undo/")
        if undo is None or answer.key in self._taken_back or not self.person.does("undoes", answer.key):
            return after
        self._taken_back.add(answer.key)
        return self.browser.send(undo)

    def _old_tab(self, answer: Answer) -> None:
        """Send an outdated form from an old tab, as people sometimes do; the response is not read."""
        if self._old is not None and self.person.does("tabs", answer.key):
            self.browser.send(self._old[0], **self._old[1])

    def _clicks(self, answer: Answer) -> dict[str, str]:
        """Return the click log, which goes with the answer as one piece."""
        if not answer.events or "events" not in answer.form.fields:
            return {}
        # Seconds since the item was there, as the page counts them: each piece has a number of its own.
        sequence = min(int(self.seconds - self._began), MOST_PIECES)
        return {"events": json.dumps(answer.events), "sequence": str(sequence)}
