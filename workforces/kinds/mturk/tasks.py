"""The job that looks after the postings at the marketplace, and what has it done."""

from typing import Any

from jobs.registry import JobKind, Lane
from jobs.work import Work
from workforces.kinds.mturk.rounds import marketplace_rounds, rounds_due


def marketplace(work: Work) -> dict[str, Any]:
    """Look after the postings at the marketplace: read, decide, send."""
    return marketplace_rounds(work=work)


JOBS = [
    JobKind("workforces.marketplace", marketplace, Lane.MARKETPLACE),
]
SWEEPS = [rounds_due]
