"""A panel's list of its people and their visits, which confirms their identity."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from django.utils import timezone

from jobs.models import Job
from jobs.work import Work
from storage.tables.delimited import folded
from storage.tables.faults import RowError
from storage.tables.reading import Row
from storage.tables.values import clean, text_of
from workforces.kinds.link.confirmations import visit_confirm, visit_doubt
from workforces.models import Ticket, TicketState, Workforce
from workforces.services.identities import tickets_claimed
from workforces.services.terms import terms_of

# Prolific's names of the same columns, as in its export of submissions.
PERSON = ("participant_id", "prolific_pid", "person")
VISIT = ("submission_id", "session_id", "visit")
# Prolific's words for visits whose work was submitted. A list without the column names only such visits.
FINISHED = ("awaiting review", "approved", "completed")
CHUNK = 500
CONFIRM_LIST = "workforces.confirm_list"  # the kind of the job that reads a list
MOST_WAITING = 10_000  # counted no further on a page
MOST_ERRORS_KEPT = 100


def panel_list_confirm(*, work: Work, workforce: Workforce, rows: Iterable[Row]) -> dict[str, Any]:
    """Count the work of the visits that a panel lists; reading a list again changes nothing.

    Each row names a person and a visit, under the names of the workforce's parameters or of Prolific's export.
    Return how many visits were confirmed; how many were claimed by several visits (a manager decides about these); and
    how many were not finished according to the list, unknown here or confirmed before, or unreadable.
    """
    counts = {"confirmed": 0, "doubtful": 0, "unfinished": 0, "unknown": 0, "failed": 0}
    errors: list[dict[str, Any]] = []
    seen: set[tuple[str, str, str]] = set()
    iterator = iter(rows)
    while chunk := list(islice(iterator, CHUNK)):
        listed = []
        for number, row in chunk:
            try:
                listed.append((number, *_read(row, workforce)))
            except RowError as error:
                counts["failed"] += 1
                errors += [{"row": number, "error": str(error)}][: MOST_ERRORS_KEPT - len(errors)]
        ours = _visits_of(workforce, [visit for _, _, visit, _ in listed])
        for number, person, visit, status in listed:
            if visit not in ours:
                counts["unknown"] += 1
            elif (person, visit, status) not in seen:
                seen.add((person, visit, status))
                with work.step(done=number):
                    counts[_confirm(workforce, person, visit, status)] += 1
        work.progress(chunk[-1][0])
    return {**counts, "errors": errors}


def _visits_of(workforce: Workforce, visits: list[str]) -> set[str]:
    """Return the listed visits that exist here, with one query per piece of the list."""
    here = Ticket.objects.filter(workforce=workforce, remote_id__in=visits)
    return set(here.values_list("remote_id", flat=True))


def _read(row: Mapping[str, Any] | RowError, workforce: Workforce) -> tuple[str, str, str]:
    """Return the person, the visit and its status in a row; raise `RowError` if the person or the visit is missing."""
    if isinstance(row, RowError):
        raise row
    terms = terms_of(workforce)
    cells = {folded(str(key)): clean(text_of(value)) for key, value in row.items()}
    person = _first(cells, (folded(terms.person_parameter), *PERSON))
    visit = _first(cells, (folded(terms.visit_parameter), *VISIT))
    if not person or not visit:
        lacking, names = (
            ("person", (terms.person_parameter, *PERSON)) if not person else ("visit", (terms.visit_parameter, *VISIT))
        )
        raise RowError(
            f"the {lacking} is missing: expected a column {' or '.join(names)}; there are {', '.join(cells)}", "line"
        )
    return person, visit, cells.get("status", "")


def _first(cells: Mapping[str, str], names: Iterable[str]) -> str:
    return next((cells[name] for name in names if cells.get(name)), "")


def _confirm(workforce: Workforce, person: str, visit: str, status: str) -> str:
    if status and status.lower() not in FINISHED:
        return "unfinished"
    known = {"surrogate__external__source": workforce.source, "surrogate__external__name": person}
    if Ticket.objects.filter(workforce=workforce, remote_id=visit, **known).exists():
        return "unknown"  # confirmed before
    visits = tickets_claimed(workforce=workforce, name=person, remote_id=visit)
    claims = list(visits.filter(work__isnull=False).distinct())
    if len(visits) > 1:  # the one that the panel means may be one that left nothing here
        return "doubtful" if sum(visit_doubt(ticket=one, now=timezone.now()) for one in claims) else "unknown"
    if any(one.state == TicketState.OPEN for one in claims):
        return "unfinished"  # here: its visitor is at work, and another list confirms it later
    if not any(visit_confirm(ticket=one, name=person, now=timezone.now()) for one in claims):
        return "unknown"
    waits = Ticket.objects.filter(pk__in=[one.pk for one in claims], state=TicketState.UNMATCHED)
    return "doubtful" if waits.exists() else "confirmed"


def lists_shown(row: Workforce) -> dict[str, Any]:
    """Return the number of visits of a workforce that wait for a list, and the last lists."""
    waiting = Ticket.objects.filter(workforce=row, state=TicketState.ANSWERED)
    lists = Job.objects.filter(scope_id=row.campaign_id, kind=CONFIRM_LIST).order_by("-created_at")
    return {"waiting": len(waiting.values_list("pk")[:MOST_WAITING]), "lists": list(lists[:3])}
