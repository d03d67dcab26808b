"""A member with an account on the platform, on the pages for answering items."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from simulation.browser import Browser, Page
from simulation.doors.desk import Desk
from simulation.doors.market import Outcome
from simulation.people import Person

MOST_STEPS = 60


@dataclass
class Member:
    """One annotator with an account."""

    site_url: str
    campaign: str  # its name in addresses
    email: str
    password: str
    person: Person
    world: Any
    browser: Browser = field(default_factory=Browser)
    before_answering: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        self.desk = Desk(self.person, self.world, self.browser)
        self._page: Page | None = None

    @property
    def seconds(self) -> float:
        """The seconds that this person has worked, by the simulated clock."""
        return self.desk.seconds

    def log_in(self) -> None:
        """Log in."""
        form = self.browser.get(f"{self.site_url}/account/login/").form_to("/account/login/")
        if form is None:
            return
        if self.browser.send(form, login=self.email, password=self.password).form_to("/account/login/") is not None:
            raise RuntimeError(f"{self.email} could not log in")

    def work(self) -> Outcome:
        """Answer one item, stage by stage; request an item if none is open."""
        done, asked = self.desk.answers, False
        page = self._page or self.browser.get(f"{self.site_url}/work/{self.campaign}/")
        for _ in range(MOST_STEPS):
            if page.stage:
                self.before_answering()
            after = self.desk.onward(page)
            if self.desk.answers > done:
                self._page = after if after is not None and after.stage else None
                return Outcome.HANDED_IN
            if after is None:
                start = page.form_to(f"/work/{self.campaign}/")
                if asked or start is None:
                    break
                asked, after = True, self.browser.send(start)
            page = after
        self._page = None
        return Outcome.NOTHING
