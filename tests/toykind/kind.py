"""Students of a course, whose website signs their addresses: each finished visit earns a credit there."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from workforces.kinds.base import Arrival, ArrivalRefused, Farewell, Kind, Outcome, Terms, signature_verify
from workforces.models import TicketState, Workforce


@dataclass(frozen=True, slots=True)
class CourseTerms(Terms):
    """What the course agreed to; ``website`` is where students go back to."""

    website: str = ""


class Course(Kind):
    """Students sent by the website of a course."""

    key: ClassVar[str] = "course"
    title: ClassVar[Any] = "Students of a course"
    door: ClassVar[str] = "join"
    terms_class: ClassVar[type[Terms]] = CourseTerms
    form: ClassVar[str] = "tests.toykind.forms.CourseForm"
    begin: ClassVar[Any] = "Make the address"
    page: ClassVar[str] = "workforces/kinds/course.html"

    def __init__(self, secret: str = "", now: float = 0.0) -> None:
        self.secret, self.now = secret, now

    def configured(self, secret: str, now: float) -> "Course":
        return Course(secret, now)

    def arrive(self, query: Mapping[str, str], terms: Any) -> Arrival | None:
        student = query.get("student", "")
        if not student:
            return None
        if not signature_verify(self.secret, query, student, now=self.now):
            raise ArrivalRefused("come by the website of the course")
        return Arrival(worker=student, remote_id=query.get("sheet", "1"), is_signed=True)

    def farewell(self, arrival: Arrival, terms: Any, outcome: Outcome, code: str) -> Farewell:
        return Farewell(url=f"{terms.website}?outcome={outcome}")

    def shown(self, row: Workforce) -> dict[str, Any]:
        return {"address": row.path, "credits": row.tickets.filter(state=TicketState.SUBMITTED).count()}

    def handed_out(self, row: Workforce) -> dict[str, str]:
        return {"address": row.path, "secret": row.secret}
