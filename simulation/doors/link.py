"""Someone whom a panel sends by a link, to answer some items at a time."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from simulation.browser import Browser, Page
from simulation.doors.desk import Desk
from simulation.doors.market import MOST_PAGES, Outcome
from simulation.people import Person


@dataclass
class PanelMember:
    """One member of a panel; each time they come it is another visit."""

    address: Callable[[int], str]  # what the panel opens for their first, second, … visit; it may sign it
    person: Person
    world: Any
    visits: int = 0
    browser: Browser = field(default_factory=Browser)

    def __post_init__(self) -> None:
        self.desk = Desk(self.person, self.world, self.browser)

    @property
    def seconds(self) -> float:
        """How long they have been at it by their own clock."""
        return self.desk.seconds

    def log_in(self) -> None:
        """Do nothing: the address says who they are."""

    def work(self) -> Outcome:
        """Come once, answer what the visit holds, and leave."""
        self.visits += 1
        done = self.desk.answers
        page: Page | None = self.browser.get(self.address(self.visits))
        for _ in range(MOST_PAGES):
            page = self.desk.onward(page) if page is not None else None
            if page is None:
                break
        return Outcome.HANDED_IN if self.desk.answers > done else Outcome.NOTHING
