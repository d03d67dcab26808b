"""Seats: who works at the desk, how they are identified, where actions lead, and how the work ends.

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
        The template that is shown above an item.
    training_note
        Additional text in the introduction to the training round.
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
        """Whether the browser requests the work area alone, without the rest of the page."""
        return False

    @property
    @abstractmethod
    def surrogate_id(self) -> UUID:
        """The surrogate of the person at the desk.

        Raises
        ------
        ConsentMissing
            The person hasn't agreed to the consent text in force.
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
        """Return the address of an action, at the desk or at an assignment; empty if this seat lacks the action."""

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
        """Show the page that follows an action."""

    @abstractmethod
    def ask_consent(self) -> HttpResponse:
        """Show the consent text."""

    @abstractmethod
    def teach(self) -> HttpResponse:
        """Show this person's next training example."""

    @abstractmethod
    def no_work(self, step: Step, now: datetime) -> HttpResponse:
        """Say why there is no item, and how the work ends."""

    def may_undo(self, _step: Step) -> bool:
        """Return whether the last answer can be taken back now."""
        return False

    def extras(self, _step: Step) -> dict[str, Any]:
        """Return additional data of this seat for the page of an item."""
        return {}

    @abstractmethod
    def page(self, template: str, context: Mapping[str, Any], status: int = 200) -> HttpResponse:
        """Render a page of the desk."""

    @abstractmethod
    def problem_page(self, problem: Problem) -> HttpResponse:
        """Render a page that says what went wrong and what to do."""

    def problem(self, problem: Problem) -> HttpResponse:
        """Report what went wrong; to a script, as JSON."""
        if is_script(self.request):
            return problem_json(problem)
        return self.problem_page(problem)
