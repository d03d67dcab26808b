"""Bulk work: how often garbage is searched for meanwhile."""

import gc

import pytest

from database.bulk import RARELY, rarely_collected


def test_garbage_is_collected_as_usual_once_the_last_bulk_work_ends():
    usual = gc.get_threshold()
    with pytest.raises(RuntimeError), rarely_collected():
        with rarely_collected():
            assert gc.get_threshold()[0] == RARELY
        assert gc.get_threshold()[0] == RARELY  # another is still at work
        raise RuntimeError
    assert gc.get_threshold() == usual
