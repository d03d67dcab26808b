"""The jobs and sweeps of the workforces app."""

from dataclasses import asdict
from typing import Any

from jobs.registry import JobKind, Lane
from jobs.uploads import opened, upload_forget
from jobs.work import Work
from storage.tables.rows import read_rows
from workforces.models import Workforce
from workforces.selectors import CONFIRM_LIST, RECONCILE
from workforces.services.panels import panel_list_confirm
from workforces.services.reconcile import reconcile
from workforces.services.rounds import marketplace_rounds, rounds_due
from workforces.services.tickets import visits_lapse

MOST_DIFFERENCES = 200  # kept of a comparison


def marketplace(work: Work) -> dict[str, Any]:
    """Look after the postings at the marketplace: read, decide, send."""
    return marketplace_rounds(work=work)


def confirm_list(work: Work) -> dict[str, Any]:
    """Confirm the visits that a panel lists."""
    workforce = Workforce.objects.select_related("campaign").get(pk=work.payload["workforce"])
    with opened(work.payload) as file:
        rows = read_rows(file, work.payload["name"], encoding=work.payload.get("encoding"))
        found = panel_list_confirm(work=work, workforce=workforce, rows=rows)
        return {**found, "notes": rows.reading.said()}


def compare_books(work: Work) -> dict[str, Any]:
    """Compare the books with those of the marketplace; what differs is in the result."""
    found = reconcile(workforce=Workforce.objects.get(pk=work.payload["workforce"]))
    return {**asdict(found), "differences": found.differences[:MOST_DIFFERENCES], "different": len(found.differences)}


JOBS = [
    JobKind("workforces.marketplace", marketplace, Lane.MARKETPLACE),
    JobKind(CONFIRM_LIST, confirm_list, Lane.BULK, upload_forget),
    JobKind(RECONCILE, compare_books, Lane.BULK),  # it reads every posting: that must not hold up the rounds
]
SWEEPS = [rounds_due, visits_lapse]
