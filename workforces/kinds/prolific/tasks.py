"""The job that runs rounds at Prolific, and the periodic task that requests it."""

from typing import Any

from django.conf import settings

from jobs.registry import JobKind, Lane
from jobs.work import Work
from workforces.kinds.prolific.rounds import ROUNDS, rounds_due


def prolific(work: Work) -> dict[str, Any]:
    """Run a round for the studies on Prolific."""
    return ROUNDS.run_all(work, seconds=settings.PROLIFIC_ROUND_SECONDS)


JOBS = [JobKind("workforces.prolific", prolific, Lane.MARKETPLACE)]
SWEEPS = [rounds_due]
