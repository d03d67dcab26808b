"""The job that reads a panel's list."""

from typing import Any

from jobs.registry import JobKind, Lane
from jobs.uploads import opened, upload_forget
from jobs.work import Work
from storage.tables.rows import read_rows
from workforces.kinds.link.lists import CONFIRM_LIST, panel_list_confirm
from workforces.models import Workforce


def confirm_list(work: Work) -> dict[str, Any]:
    """Confirm the visits that a panel lists."""
    workforce = Workforce.objects.select_related("campaign").get(pk=work.payload["workforce"])
    with opened(work.payload) as file:
        rows = read_rows(file, work.payload["name"], encoding=work.payload.get("encoding"))
        found = panel_list_confirm(work=work, workforce=workforce, rows=rows)
        return {**found, "notes": rows.reading.said()}


JOBS = [JobKind(CONFIRM_LIST, confirm_list, Lane.BULK, upload_forget)]
SWEEPS: list[Any] = []
