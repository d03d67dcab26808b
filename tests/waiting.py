"""Waiting for what other processes and threads do."""

import time


def wait_for(condition, seconds=60):
    """Return what a condition gave once it held.

    Raises
    ------
    AssertionError
        It did not hold in time.
    """
    until = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < until, "what was waited for did not come"
        time.sleep(0.05)
    return found
