"""Workers with a seed: they take HITs at a marketplace, read the page in the frame, choose a label, hand in.

What they think of a pair comes from a table of true labels and their own care; all of it is drawn from the
seed, so that a crowd behaves alike in every run.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from simulation.browser import Browser, Page

LABELS = (1, 2, 3, 4)
SUBMIT = "/mturk/externalSubmit"
MOST_PAGES = 60  # of one ticket: more would be a page that leads nowhere


class Outcome(StrEnum):
    """What became of one attempt to work."""

    HANDED_IN = "handed_in"
    RETURNED = "returned"
    NOTHING = "nothing"


@dataclass(frozen=True)
class WorkerProfile:
    """How a simulated worker works.

    ``care`` is the chance to choose the true label; otherwise a label beside it, or (the careless) any.
    ``returns`` is the chance to give a task back unread.
    """

    care: float = 0.92
    is_random: bool = False
    returns: float = 0.02
    skips: float = 0.01


@dataclass
class SimulatedWorker:
    """One member of the crowd, with an account at the marketplace."""

    market_url: str
    email: str
    password: str
    profile: WorkerProfile
    truth: Mapping[tuple[str, str], int]
    seed: int
    browser: Browser = field(default_factory=Browser)
    handed_in: int = 0

    def __post_init__(self) -> None:
        self._chance = random.Random(f"{self.seed} {self.email}")  # noqa: S311  a simulation, no secret

    def log_in(self) -> None:
        """Log in at the marketplace."""
        page = self.browser.get(f"{self.market_url}/account/login/")
        form = page.form_to("/account/login/")
        if form is None:
            return
        after = self.browser.send(form, login=self.email, password=self.password)
        if after.form_to("/account/login/") is not None:
            raise RuntimeError(f"{self.email} could not log in")
        listing = self.browser.get(f"{self.market_url}/")
        welcome = listing.form_to("/welcome/")
        if welcome is not None:
            self.browser.send(welcome)

    def work(self) -> Outcome:
        """Take one HIT and finish it, if there is one."""
        taken = self.take()
        if taken is None:
            return Outcome.NOTHING
        if self._chance.random() < self.profile.returns:
            return self._give_back(taken)
        return self.finish(taken)

    def take(self) -> Page | None:
        """Accept the next HIT and return its page; None when there is none."""
        accept = self.browser.get(f"{self.market_url}/").form_to("/next/")
        taken = self.browser.send(accept) if accept else None
        return taken if taken and taken.frames else None

    def _give_back(self, taken: Page) -> Outcome:
        form = taken.form_to("/return/")
        assert form is not None
        self.browser.send(form)
        return Outcome.RETURNED

    def finish(self, taken: Page) -> Outcome:
        """Do what an accepted HIT asks for and hand it in, or give it back if it offers nothing."""
        page = self.in_frame(taken)
        done = page.form_to(SUBMIT) if page else None
        if done is None:
            return self._give_back(taken)
        Browser().send(done)
        self.handed_in += 1
        return Outcome.HANDED_IN

    def in_frame(self, taken: Page, until: str = SUBMIT) -> Page | None:
        """Walk the pages of a frame until one has a form to a place; None when they lead to nothing."""
        # A frame of another site has no cookies: a browser without any.
        frame = Browser()
        page: Page | None = frame.get(taken.frames[0])
        for _ in range(MOST_PAGES):
            if page is None or page.form_to(until) is not None:
                return page
            page = self._onward(frame, page)
        raise RuntimeError(f"no end in sight at {taken.frames[0]}")

    def _onward(self, frame: Browser, page: Page) -> Page | None:
        """Do what a page asks for; None when it offers nothing."""
        if page.status == 403:  # not (yet) theirs to work on: a person would give it back
            return None
        if page.status >= 400:
            raise RuntimeError(f"{page.status} at {page.url}: {page.text[-300:]}")
        consent = page.form_to("/agree/")
        if consent is not None:
            return frame.send(consent)
        for part in ("/learn/", "/answer/"):
            form = page.form_to(part)
            if form is not None:
                skip = page.form_to("/skip/")
                if skip is not None and self._chance.random() < self.profile.skips:
                    return frame.send(skip, reason="unclear")
                return frame.send(form, label=str(self._label(page)), active_seconds="2.0")
        begin = next((link for link in page.links if link.endswith("?begin")), None)
        return frame.get(begin) if begin else None

    def _label(self, page: Page) -> int:
        pair = (_clean(page.marked.get("question", "")), _clean(page.marked.get("candidate", "")))
        true = next((label for (question, answer), label in self.truth.items() if pair[0] == question and answer in pair[1]), 3)  # fmt: skip
        if self._chance.random() < self.profile.care:
            return true
        if self.profile.is_random:
            return self._chance.choice(LABELS)
        return min(4, max(1, true + self._chance.choice((-1, 1))))


def _clean(text: str) -> str:
    return " ".join(text.split())
