"""The jobs and periodic tasks of the workforces app: its own, and those of its kinds."""

from dataclasses import asdict
from importlib import import_module
from typing import Any

from jobs.registry import JobKind, Lane
from jobs.work import Work
from workforces.kinds.registry import KINDS
from workforces.models import Workforce
from workforces.payloads import WorkforcePayload
from workforces.services.tickets import visits_lapse
from workforces.services.workforces import BOOKS

MOST_DIFFERENCES = 200  # kept of a comparison


def compare_books(work: Work) -> dict[str, Any]:
    """Compare our ledger with the other side's; the result lists the differences."""
    workforce = Workforce.objects.select_related("campaign").get(pk=work.payload_as(WorkforcePayload)["workforce"])
    found = KINDS[workforce.kind].reconcile(workforce=workforce)
    return {**asdict(found), "differences": found.differences[:MOST_DIFFERENCES], "different": len(found.differences)}


_OF_KINDS = [import_module(kind.tasks) for kind in KINDS.values() if kind.tasks]
JOBS = [
    JobKind(BOOKS, compare_books, Lane.BULK),  # it reads every posting: that must not hold up the rounds
    *(job for tasks in _OF_KINDS for job in tasks.JOBS),
]
SWEEPS = [*(sweep for tasks in _OF_KINDS for sweep in tasks.SWEEPS), visits_lapse]
