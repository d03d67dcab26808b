"""The job that reads a panel's list."""

from typing import Any

from jobs.registry import JobKind, Lane
from jobs.uploads import opened, upload_forget
from jobs.work import Work
from storage.tables.rows import read_rows
from workforces.kinds.link.lists import CONFIRM_LIST, panel_list_confirm
from workforces.models import Workforce
from workforces.payloads import VisitsListPayload


def confirm_list(work: Work) -> dict[str, Any]:
    """Confirm the visits that a panel lists."""
    asked = work.payload_as(VisitsListPayload)
    workforce = Workforce.objects.select_related("campaign").get(pk=asked["workforce"])
    with opened(asked) as file:
        rows = read_rows(file, asked["name"], encoding=asked.get("encoding"))
        found = panel_list_confirm(work=work, workforce=workforce, rows=rows)
        return {**found, "notes": rows.reading.said()}


JOBS = [JobKind(CONFIRM_LIST, confirm_list, Lane.BULK, upload_forget)]
SWEEPS: list[Any] = []
