"""The history of an item: who worked on it, what happened to their answers, and the decisions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from uuid import UUID

from django.utils.translation import gettext as _

from annotation.items.selectors import ShownAnswer
from annotation.models import Annotation, Assignment, AssignmentState, CountedChange, Item
from annotation.tasktypes.base import Pages
from annotation.tasktypes.registry import pages_of
from quality.models import Case, CaseState, Opinion, Verdict

MOST = 300
_ENDS = (AssignmentState.SKIPPED, AssignmentState.RELEASED, AssignmentState.EXPIRED)


@dataclass(frozen=True, slots=True)
class Event:
    """An event in the history of an item, with the letter and color of the annotator's answer, if it is about one."""

    at: datetime
    what: str
    detail: str = ""
    who: str = ""
    colour: int = 0


def history_of(item: Item, people: Mapping[UUID, ShownAnswer]) -> list[Event]:
    """Return the events of an item, the oldest first. Annotators who submitted nothing have the letter "?"."""
    sources = (_work(item, people), _changes(item, people), _verdicts(item), _cases(item), _reports(item))
    events = [event for source in sources for event in islice(source, MOST)]
    return [Event(item.created_at, _("imported")), *sorted(events, key=lambda event: event.at)]


def _event(at: datetime, what: str, detail: str, surrogate_id: UUID, people: Mapping[UUID, ShownAnswer]) -> Event:
    answer = people.get(surrogate_id)
    return Event(at, what, detail, answer.letter if answer else "?", answer.colour if answer else 0)


def _work(item: Item, people: Mapping[UUID, ShownAnswer]) -> Iterator[Event]:
    for row in (
        Assignment.objects.filter(item=item).exclude(state=AssignmentState.RESERVED).order_by("claimed_at")[:MOST]
    ):
        yield _event(row.claimed_at, _("assigned"), "", row.surrogate_id, people)
        if row.state in _ENDS and row.ended_at is not None:
            yield _event(row.ended_at, row.get_state_display().lower(), row.skip_reason, row.surrogate_id, people)
    for submitted in Annotation.objects.filter(item=item).order_by("pk")[:MOST]:
        yield _event(submitted.submitted_at, _("submitted"), "", submitted.surrogate_id, people)


def _changes(item: Item, people: Mapping[UUID, ShownAnswer]) -> Iterator[Event]:
    rows = CountedChange.objects.filter(annotation__item=item).select_related("annotation").order_by("pk")
    for row in rows[:MOST]:
        yield _event(row.at, row.get_after_display().lower(), row.because, row.annotation.surrogate_id, people)


def _verdicts(item: Item) -> Iterator[Event]:
    for row in Verdict.objects.filter(item=item).order_by("pk")[:MOST]:
        yield Event(row.decided_at, _("labeled"), f"{row.label} · {row.get_rule_display()}")
        if row.superseded_at is not None:
            yield Event(row.superseded_at, _("label replaced"), str(row.label))


def _cases(item: Item) -> Iterator[Event]:
    pages = pages_of(item.campaign.task_type)
    for case in Case.objects.filter(item=item).order_by("pk")[:MOST]:
        yield Event(case.opened_at, _("sent to experts"), case.get_because_display())
        if case.closed_at is not None and case.state in (CaseState.DECIDED, CaseState.RECALLED):
            yield Event(case.closed_at, _("expert case closed"), case.get_state_display())
    for opinion in Opinion.objects.filter(case__item=item).select_related("case").order_by("pk")[:MOST]:
        judged = f": {_grades(opinion, pages)}" if opinion.case.state == CaseState.DECIDED else ""  # blind until then
        yield Event(opinion.at, _("judged by an expert"), f"{opinion.get_phase_display()}{judged}")


def _grades(opinion: Opinion, pages: Pages) -> str:
    """Return the grades of an expert by their names, numbered as the parts of the case if it has several."""
    names = {grade: str(name) for grade, name, _meaning in pages.grades}
    given = [names.get(grade, str(grade)) for grade in (opinion.said.get(part["key"]) for part in opinion.case.parts)]
    if len(given) == 1:
        return given[0]
    kinds = [pages.part_names.get(part["what"], part["what"]) for part in opinion.case.parts]
    return "; ".join(f"{n}. {kind}: {name}" for n, (kind, name) in enumerate(zip(kinds, given, strict=True), 1))


def _reports(item: Item) -> Iterator[Event]:
    for row in item.reports.order_by("pk")[:MOST]:
        yield Event(row.created_at, _("question or problem reported"), row.text)
        if row.answer and row.resolved_at:
            yield Event(row.resolved_at, _("answered"), row.answer)
