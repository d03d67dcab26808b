"""A marketplace worker: takes HITs, reads the page in the frame, answers, submits."""

import json
from dataclasses import dataclass, field, replace
from enum import StrEnum
from http import HTTPStatus
from typing import Any
from urllib.parse import urljoin

from simulation.browser import Browser, Form, Page
from simulation.doors.desk import Desk
from simulation.people import Person

SUBMIT = "/mturk/externalSubmit"
MOST_PAGES = 60  # of one ticket: more would be a page that leads nowhere


class Outcome(StrEnum):
    """The result of one attempt to work."""

    HANDED_IN = "handed_in"
    RETURNED = "returned"
    ABANDONED = "abandoned"
    NOTHING = "nothing"


@dataclass(frozen=True)
class Held:
    """An accepted HIT: the address of its frame, and two forms of the page around it."""

    frame: str
    onward: Form  # to the next HIT
    give_back: Form


@dataclass
class MarketWorker:
    """One member of the crowd, with an account at the marketplace."""

    market_url: str
    email: str
    password: str
    person: Person
    world: Any
    browser: Browser = field(default_factory=Browser)
    handed_in: int = 0
    taken: int = 0

    def __post_init__(self) -> None:
        self.desk = Desk(self.person, self.world)
        self._around: Held | None = None
        self._in_frames = 0

    @property
    def requests(self) -> int:
        """The number of requests made."""
        return self.browser.requests + self._in_frames

    @property
    def seconds(self) -> float:
        """The seconds that this person has worked, by the simulated clock."""
        return self.desk.seconds

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
        if self.person.does("abandons", f"HIT {self.taken}"):
            return Outcome.ABANDONED
        if self.person.does("returns", f"HIT {self.taken}"):
            return self._give_back(taken)
        return self.finish(taken)

    def take(self) -> Held | None:
        """Accept the next HIT and return it; None if there is no HIT."""
        self.taken += 1
        around, self._around = self._around, None
        held = self._onward(around) if around else None
        return held or self._accepted(self.browser.get(f"{self.market_url}/"))

    def _accepted(self, page: Page) -> Held | None:
        """Submit the list's form for the next HIT, and return the accepted HIT; None if there is none left."""
        accept = page.form_to("/next/")
        around = self.browser.send(accept) if accept else None
        if around is None or not around.frames:
            return None
        onward, give_back = around.form_to("/next/"), around.form_to("/return/")
        assert onward is not None
        assert give_back is not None
        return Held(around.frames[0], onward, give_back)

    def _onward(self, held: Held) -> Held | None:
        """Ask what became of a submitted HIT, as the page around it does, which accepts the next one of its group."""
        page = self.browser.send(held.onward, auto="1")
        following = json.loads(page.text).get("next") if page.status == HTTPStatus.OK else None
        if following is None:
            return None
        return Held(
            following["frame"]["url"],
            replace(held.onward, action=urljoin(self.market_url, following["auto_accept"])),
            replace(held.give_back, action=urljoin(self.market_url, following["give_back"])),
        )

    def _give_back(self, taken: Held) -> Outcome:
        self.browser.send(taken.give_back)
        return Outcome.RETURNED

    def finish(self, taken: Held) -> Outcome:
        """Work on an accepted HIT and submit it, or return it if it offers no work."""
        page = self.in_frame(taken)
        done = page.form_to(SUBMIT) if page else None
        if done is None:
            return self._give_back(taken)
        frame = Browser()
        frame.send(done)
        self._in_frames += frame.requests
        self.handed_in += 1
        self._around = taken  # the page around the frame accepts the next one by itself
        return Outcome.HANDED_IN

    def in_frame(self, taken: Held, until: str = SUBMIT) -> Page | None:
        """Go through the pages of a frame until one has a form to an address; None if there is nothing more to do."""
        # A frame of another site has no cookies: a browser without any.
        self.desk.browser = Browser()
        page: Page | None = self.desk.browser.get(taken.frame)
        for _ in range(MOST_PAGES):
            if page is None or page.form_to(until) is not None:
                break
            page = self.desk.onward(page)
        else:
            raise RuntimeError(f"no end in sight at {taken.frame}")
        self._in_frames += self.desk.browser.requests
        return page
