"""Seats: who sits at the desk, what proves it, where the actions lead, and how the work ends.

An account has one kind of seat, a visitor another. The desk itself (`annotation.desk.pages`, `annotation.desk.actions`)
is the same for all of them, so a new kind of seat gets the whole desk.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, NamedTuple
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from annotation.desk.problems import Problem, is_script, problem_json
from annotation.models import Assignment, Campaign
from annotation.people.services.training import Lesson
from annotation.slots.services.claims import Claim


class Step(NamedTuple):
    """What a person holds after an action, and whether the answer that they gave with it can be taken back."""

    claim: Claim
    undo: bool = False


class Seat(ABC):
    """A person at the desk of a campaign.

    Attributes
    ----------
    frame, desk_frame
        The templates that the pages of the desk extend: plain ones, and the one that shows an item.
    head_template
        What stands above an item.
    training_note
        What the introduction to the training round says besides.
    """

    frame: ClassVar[str]
    desk_frame: ClassVar[str]
    head_template: ClassVar[str]
    training_note: ClassVar[Any] = ""

    campaign: Campaign

    def __init__(self, request: HttpRequest) -> None:
        self.request = request

    @property
    def is_partial(self) -> bool:
        """Whether the browser exchanges the work alone, and wants no whole page."""
        return False

    @property
    @abstractmethod
    def surrogate_id(self) -> UUID:
        """Who sits here.

        Raises
        ------
        ConsentMissing
            Nobody who agreed to the consent text in force.
        """

    @abstractmethod
    def prove(self, assignment_id: UUID) -> None:
        """Make sure that this person may act on an assignment.

        Raises
        ------
        NoSuchAssignment, ConsentMissing
        """

    @abstractmethod
    def address(self, action: str, assignment: Assignment | None = None) -> str:
        """Return where an action leads: one of the desk, or of an assignment; empty where this seat lacks it."""

    @abstractmethod
    def answer(self, assignment_id: UUID, *, stage: str, sent: dict[str, Any], version: int, now: datetime) -> Step:
        """Take the answer to one stage; the last one submits."""

    @abstractmethod
    def submit(self, assignment_id: UUID, *, now: datetime) -> Step:
        """Submit a draft that is finished already."""

    @abstractmethod
    def skip(self, assignment_id: UUID, *, reason: str, note: str, now: datetime) -> Step:
        """Give an item back; raise `ValueError` for an unknown reason."""

    @abstractmethod
    def learn(self, *, number: int, sent: Mapping[str, Any], now: datetime) -> Lesson | None:
        """Take an answer to an example of the training round."""

    @abstractmethod
    def go_on(self, step: Step, now: datetime) -> HttpResponse:
        """Show what follows an action."""

    @abstractmethod
    def ask_consent(self) -> HttpResponse:
        """Show the consent text."""

    @abstractmethod
    def teach(self) -> HttpResponse:
        """Show the example that this person stands at."""

    @abstractmethod
    def no_work(self, step: Step, now: datetime) -> HttpResponse:
        """Say why there is no item, and how the work ends."""

    def may_undo(self, _step: Step) -> bool:
        """Return whether the last answer can be taken back now."""
        return False

    def extras(self, _step: Step) -> dict[str, Any]:
        """Return what the page of an item shows of this seat besides."""
        return {}

    @abstractmethod
    def page(self, template: str, context: Mapping[str, Any], status: int = 200) -> HttpResponse:
        """Render a page of the desk."""

    @abstractmethod
    def problem_page(self, problem: Problem) -> HttpResponse:
        """Render what went wrong, and what to do."""

    def problem(self, problem: Problem) -> HttpResponse:
        """Tell what went wrong, to a script as JSON."""
        if is_script(self.request):
            return problem_json(problem)
        return self.problem_page(problem)
