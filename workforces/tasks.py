"""The jobs and sweeps of the workforces app."""

from typing import Any

from annotation.rows import read_rows
from jobs.registry import JobKind, Lane
from jobs.uploads import opened, upload_forget
from jobs.work import Work
from workforces.models import Workforce
from workforces.selectors import CONFIRM_LIST
from workforces.services.panels import panel_list_confirm
from workforces.services.rounds import marketplace_rounds, rounds_due
from workforces.services.tickets import visits_lapse


def marketplace(work: Work) -> dict[str, Any]:
    """Look after the postings at the marketplace: read, decide, send."""
    return marketplace_rounds(work=work)


def confirm_list(work: Work) -> dict[str, Any]:
    """Confirm the visits that a panel lists."""
    workforce = Workforce.objects.select_related("campaign").get(pk=work.payload["workforce"])
    with opened(work.payload) as file:
        rows = read_rows(file, work.payload["name"])
        return panel_list_confirm(work=work, workforce=workforce, rows=rows)


JOBS = [
    JobKind("workforces.marketplace", marketplace, Lane.MARKETPLACE),
    JobKind(CONFIRM_LIST, confirm_list, Lane.BULK, upload_forget),
]
SWEEPS = [rounds_due, visits_lapse]
