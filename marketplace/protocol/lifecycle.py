"""The states of a HIT as a function of its counters and its expiry."""

from datetime import timedelta

ASSIGNABLE = "Assignable"
UNASSIGNABLE = "Unassignable"
REVIEWABLE = "Reviewable"
REVIEWING = "Reviewing"
DISPOSED = "Disposed"

DISPOSED_AFTER = timedelta(days=120)
OVERRIDE_WITHIN = timedelta(days=30)
TOKEN_WORKS_FOR = timedelta(hours=24)


def hit_state(*, before: str, available: int, pending: int, expired: bool) -> str:
    """Return the state that a HIT is in.

    Parameters
    ----------
    before
        Its previous state: Disposed is final, and Reviewing is kept while the HIT is reviewable.
    available, pending
        The numbers of assignments still wanted, and of accepted ones not yet submitted.
    expired
        Whether the HIT has expired, so that no more assignments can be accepted.
    """
    if before == DISPOSED:
        return DISPOSED
    if available and not expired:
        return ASSIGNABLE
    if pending:
        return UNASSIGNABLE
    return REVIEWING if before == REVIEWING else REVIEWABLE
