"""The job that runs rounds at the marketplace, and the periodic task that requests it."""

from typing import Any

from django.conf import settings

from jobs.registry import JobKind, Lane
from jobs.work import Work
from workforces.kinds.mturk.rounds import ROUNDS, rounds_due


def marketplace(work: Work) -> dict[str, Any]:
    """Run a round for the postings at the marketplace: read, decide, send."""
    return ROUNDS.run_all(work, seconds=settings.MTURK_ROUND_SECONDS)


JOBS = [
    JobKind("workforces.marketplace", marketplace, Lane.MARKETPLACE),
]
SWEEPS = [rounds_due]
