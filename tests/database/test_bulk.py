"""Bulk work: how often garbage is searched for meanwhile."""

import gc

from database.bulk import RARELY, rarely_collected


def test_garbage_is_collected_as_usual_once_the_last_bulk_work_ends():
    usual = gc.get_threshold()
    outer, inner = rarely_collected(), rarely_collected()
    outer.__enter__()
    with inner:
        assert gc.get_threshold()[0] == RARELY
    assert gc.get_threshold()[0] == RARELY  # another is still at work
    assert not outer.__exit__(RuntimeError, RuntimeError("the work failed"), None)
    assert gc.get_threshold() == usual
